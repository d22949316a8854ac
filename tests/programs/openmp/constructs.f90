! As constructs.c, in Fortran: constructs whose bodies sleep. It measures itself what it slept, and
! prints it:
!
!   WHAT THREAD SECONDS
!
! constructs CASE
module naps
  use, intrinsic :: iso_c_binding
  use omp_lib
  implicit none
  integer, parameter :: threads = 4
  real(8) :: slept(0:1, 0:threads - 1) = 0
  interface
    integer(c_int) function usleep(microseconds) bind(c)
      import :: c_int
      integer(c_int), value :: microseconds
    end function
  end interface
contains
  ! Sleeps, and writes down how long that took.
  subroutine nap(what, milliseconds)
    integer, intent(in) :: what, milliseconds
    real(8) :: start
    integer :: ignored
    start = omp_get_wtime()
    ignored = usleep(int(1000 * milliseconds, c_int))
    call waited(what, start)
  end subroutine

  subroutine waited(what, start)
    integer, intent(in) :: what
    real(8), intent(in) :: start
    real(8) :: s
    s = omp_get_wtime() - start
    !$omp atomic
    slept(what, omp_get_thread_num()) = slept(what, omp_get_thread_num()) + s
  end subroutine

  subroutine print_slept(what, name)
    integer, intent(in) :: what
    character(*), intent(in) :: name
    integer :: i
    do i = 0, threads - 1
      print '(A, I2, F13.9)', name, i, slept(what, i)
    end do
  end subroutine

  subroutine in_critical()
    real(8) :: start
    !$omp parallel num_threads(threads) private(start)
    start = omp_get_wtime()
    !$omp critical
    call waited(1, start)
    call nap(0, 20)
    !$omp end critical
    !$omp end parallel
    call print_slept(0, 'critical')
    call print_slept(1, 'enter')
  end subroutine

  subroutine in_dynamic_loop()
    integer :: i
    !$omp parallel num_threads(threads)
    !$omp do schedule(dynamic, 1)
    do i = 1, 8
      call nap(0, merge(20, 10, i <= 4))
    end do
    !$omp end do
    !$omp end parallel
    call print_slept(0, 'loop')
  end subroutine

  subroutine in_parallel_loop()
    integer :: i
    !$omp parallel do schedule(guided) num_threads(threads)
    do i = 1, 16
      call nap(0, 10)
    end do
    !$omp end parallel do
    call print_slept(0, 'loop')
  end subroutine

  subroutine in_static_loop()
    integer :: i
    !$omp parallel num_threads(threads)
    !$omp do schedule(static)
    do i = 1, threads
      call nap(0, 10 * i)
    end do
    !$omp end do nowait
    !$omp end parallel
    call print_slept(0, 'loop')
  end subroutine

  subroutine in_sections()
    !$omp parallel num_threads(threads)
    !$omp sections
    !$omp section
    call nap(0, 20)
    !$omp section
    call nap(0, 60)
    !$omp end sections
    !$omp end parallel
    call print_slept(0, 'sections')
  end subroutine

  subroutine in_single()
    !$omp parallel num_threads(threads)
    !$omp single
    call nap(0, 40)
    !$omp end single
    !$omp end parallel
    call print_slept(0, 'single')
  end subroutine

  subroutine at_barrier()
    real(8) :: start
    !$omp parallel num_threads(threads) private(start)
    call nap(0, 20 * omp_get_thread_num())
    start = omp_get_wtime()
    !$omp barrier
    call waited(1, start)
    !$omp end parallel
    call print_slept(1, 'wait')
  end subroutine

  subroutine in_ordered()
    integer :: i
    real(8) :: start
    !$omp parallel do ordered schedule(static, 1) num_threads(threads) private(start)
    do i = 1, threads
      start = omp_get_wtime()
      !$omp ordered
      call waited(1, start)
      call nap(0, 20)
      !$omp end ordered
    end do
    !$omp end parallel do
    call print_slept(0, 'ordered')
    call print_slept(1, 'enter')
  end subroutine

  subroutine in_tasks()
    integer :: i
    !$omp parallel num_threads(threads)
    !$omp single
    do i = 1, 8
      !$omp task
      call nap(0, 20)
      !$omp end task
    end do
    !$omp taskwait
    call nap(1, 20)
    !$omp end single
    !$omp end parallel
    call print_slept(0, 'task')
  end subroutine

  subroutine in_regions()
    integer :: i
    do i = 1, 5
      !$omp parallel num_threads(threads)
      call nap(0, 5 * (1 + omp_get_thread_num()))
      !$omp end parallel
      call nap(1, 20)   ! serial: nobody's waiting
    end do
    call print_slept(0, 'parallel')
  end subroutine
end module

program constructs
  use naps
  implicit none
  character(16) :: name
  call get_command_argument(1, name)
  select case (name)
  case ('critical'); call in_critical()
  case ('loop'); call in_dynamic_loop()
  case ('guided'); call in_parallel_loop()
  case ('static'); call in_static_loop()
  case ('sections'); call in_sections()
  case ('single'); call in_single()
  case ('barrier'); call at_barrier()
  case ('ordered'); call in_ordered()
  case ('tasks'); call in_tasks()
  case ('often'); call in_regions()
  case default; stop 2
  end select
end program
