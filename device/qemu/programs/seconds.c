/*
 * seconds PROGRAM [ARGUMENT...]: execute a program, and print on standard error how long it took, as `@seconds 1.234567`.
 *
 * Under perf, the time includes the start of the program's process, but not perf's own work before and after the program.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    struct timespec start, end;
    int status;

    if (count < 2) {
        fprintf(stderr, "usage: seconds PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    clock_gettime(CLOCK_MONOTONIC, &start);
    pid_t child = fork();
    if (child == 0) {
        execvp(arguments[1], arguments + 1);
        perror(arguments[1]);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("seconds");
        return 1;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    long long microseconds = (end.tv_sec - start.tv_sec) * 1000000LL + (end.tv_nsec - start.tv_nsec) / 1000;
    fprintf(stderr, "@seconds %lld.%06lld\n", microseconds / 1000000, microseconds % 1000000);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
