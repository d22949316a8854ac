// Programs whose instructions can be counted by hand: no library, no start-up code, and
// every system call once. Each is chosen by -DPROGRAM_...; the counts beside the code, of
// instructions in user mode, are what tests/arm_test.py expects. N is 10,000,000.

#define N 10000000

        .macro  call_exit               // 3 instructions
        mov     x0, #0
        mov     x8, #93                 // exit(2): of this thread alone
        svc     #0
        .endm

        .macro  counted_loop count      // 2 + 2 * count instructions
        movz    x1, #(\count) & 0xffff
        movk    x1, #(\count) >> 16, lsl #16
1:      subs    x1, x1, #1
        b.ne    1b
        .endm

        .text
        .global _start
        .type   _start, %function
_start:
#if defined PROGRAM_LOOP                // 1 + (2 + 2 N + 1) + 3 = 2 N + 7
        bl      hot_loop
        call_exit
#elif defined PROGRAM_TWO_LOOPS         // 2 + (2 + 2 N + 1) + (2 + N / 2 + 1) + 3 = 2.5 N + 11
        bl      hot_loop
        bl      warm_loop
        call_exit
#elif defined PROGRAM_LONG              // 1 + 20 * (1 + 2 N + 3 + 2) + 3 = 40 N + 124
        mov     x2, #20
again:  bl      hot_loop
        subs    x2, x2, #1
        b.ne    again
        call_exit
#elif defined PROGRAM_STATUS            // ends with status 7
        mov     x0, #7
        mov     x8, #93
        svc     #0
#elif defined PROGRAM_CHILD
        mov     x0, #17                 // SIGCHLD
        mov     x1, #0
        mov     x8, #220                // clone(2)
        svc     #0
        cbz     x0, child               // 5 in both
        bl      hot_loop                // parent: 1 + 2 N + 3
        mov     x0, #-1
        mov     x1, #0
        mov     x2, #0
        mov     x3, #0
        mov     x8, #260                // wait4(2)
        svc     #0                      // parent: 6
        call_exit                       // parent: 3, in all 2 N + 18
child:  bl      warm_loop               // child: after clone's svc 1 + 1 + N / 2 + 3
        call_exit                       // child: 3, in all N / 2 + 8
#elif defined PROGRAM_THREAD
        ldr     x0, =0x10f00 | 0x40000  // VM, FS, FILES, SIGHAND, THREAD, SYSVSEM
        adr     x1, thread_stack_end
        mov     x8, #220
        svc     #0
        cbz     x0, thread              // 5 in the first thread, 1 in the new one
        bl      hot_loop
        call_exit                       // first thread: 5 + 1 + 2 N + 3 + 3 = 2 N + 12
thread: bl      warm_loop
        call_exit                       // new thread: 1 + 1 + N / 2 + 3 + 3 = N / 2 + 8
        .ltorg
#endif

        .type   hot_loop, %function
hot_loop:                               // 2 N + 3
        counted_loop N
        ret
        .size   hot_loop, . - hot_loop

        .type   warm_loop, %function
warm_loop:                              // N / 2 + 3
        counted_loop N / 4
        ret
        .size   warm_loop, . - warm_loop
        .size   _start, hot_loop - _start

        .bss
        .balign 16
        .space  16384
thread_stack_end:
        .space  16
        .section .note.GNU-stack, "", %progbits
