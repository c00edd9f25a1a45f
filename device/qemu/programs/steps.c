/*
 * steps PROGRAM [ARGUMENT...]: execute a program step by step, and print how many instructions it executed.
 *
 * It checks the counts that the programs here state, without any counter. On POWER the kernel makes no stop after `sc`:
 * there the system calls, except the last, are missing from the number.
 */
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    if (count < 2) {
        fprintf(stderr, "usage: steps PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execvp(arguments[1], arguments + 1);
        perror(arguments[1]);
        _exit(127);
    }
    unsigned long steps = 0;
    int status;
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        steps++;
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0) {
            perror("steps");
            return 1;
        }
    }
    /* The first stop is before the first instruction; the last instruction, the call of exit, ends without a stop. */
    printf("%lu instructions\n", steps);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
