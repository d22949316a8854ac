// Runs a program one instruction at a time and writes where each one was: step OUTPUT PROGRAM.
// What ran is thus known exactly, on any machine that has ptrace.
#include <stdint.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  FILE* out = fopen(argv[1], "wb");
  if (out == NULL) return 2;
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    execl(argv[2], argv[2], (char*)NULL);
    _exit(3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  while (WIFSTOPPED(status)) {
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, child, NULL, &registers) != 0) return 4;
    const uint64_t at = registers.rip;
    fwrite(&at, sizeof at, 1, out);
    if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0) return 5;
    waitpid(child, &status, 0);
  }
  return fclose(out) != 0 || !WIFEXITED(status) ? 6 : 0;
}
