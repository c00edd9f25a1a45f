/* The differences between the two ELF ABIs of POWER in assembly: the first one, which big-endian compilers use, has descriptors of functions
   and puts their code at names of its own. */
#ifndef ABI_H
#define ABI_H

#if _CALL_ELF == 2
#define CODE(name) name
#define FUNCTION(name) .global name; .type name, @function; name:
#define SET_TOC addis 2, 12, .TOC. - _start@ha; addi 2, 2, .TOC. - _start@l
#else
#define CODE(name) .L.name
#define FUNCTION(name) \
    .pushsection .opd, "aw"; .balign 8; .global name; .type name, @function; \
    name: .quad .L.name, .TOC.@tocbase, 0; .popsection; .L.name:
/* `pmulab` takes GPR 2 from the descriptor of the entry. */
#define SET_TOC nop
#endif

/* For code that was not called: GPR 2, and the code of a function in GPR 12. All lies below 2 GiB. */
#define SET_TOC_ABSOLUTE lis 2, .TOC.@ha; addi 2, 2, .TOC.@l
#if _CALL_ELF == 2
#define ENTRY_OF(name) lis 12, name@ha; addi 12, 12, name@l
#else
#define ENTRY_OF(name) lis 12, name@ha; ld 12, name@l(12)
#endif
#define CALL(name) bl name; nop

#endif
