! Kernels of bench/scan_explain.py: one at a time, chosen by a macro. Each is a subroutine of its own
! that is not inlined (-fno-inline); numbers depend on the loop count, so that they are not known to it.
module kernels
  implicit none
  integer, parameter :: length = 96
contains
#ifdef GATHER
  subroutine gather(to, from, places)
    real(8), intent(inout) :: to(:)
    real(8), intent(in) :: from(:)
    integer, intent(in) :: places(:)
    integer :: i
    do i = 1, size(places)
      to(i) = to(i) * 0.5d0 + from(places(i))  ! HERE: GATHER
    end do
  end subroutine
#endif
#ifdef UPDATE
  subroutine update(to, from, factor)
    real(8), intent(inout) :: to(length)
    real(8), intent(in) :: from(length), factor
    integer :: i
    do i = 1, length
      to(i) = to(i) * 0.5d0 + factor * from(i)  ! HERE: UPDATE
    end do
  end subroutine
#endif
#ifdef SCALED
  subroutine scaled(to, from, whole)
    real(8), intent(inout) :: to(length)
    real(8), intent(in) :: from(length), whole
    integer :: i
#ifdef INVERSE
    real(8) :: inverse
    inverse = 1 / whole
    do i = 1, length
      to(i) = from(i) * inverse
    end do
#else
    do i = 1, length
      to(i) = from(i) / whole  ! HERE: SCALED
    end do
#endif
  end subroutine
#endif
#ifdef MIXED
  subroutine mixed(sum, from)
    real(4), intent(inout) :: sum
    real(4), intent(in) :: from(length)
    integer :: i
    do i = 1, length
#ifdef ONE_KIND
      sum = sum * 0.9 + from(i)
#else
      sum = real(sum * 0.9d0 + from(i), 4)  ! HERE: MIXED
#endif
    end do
  end subroutine
#endif
end module

program kernel
  use kernels
  implicit none
  real(8) :: a(length), b(length), factor
  real(4) :: c(length), total
  integer :: places(length), i, n, runs
  character(len=32) :: argument
  call get_command_argument(1, argument)
  read (argument, *) runs
  total = 0.5
  factor = 1.7d0 + runs * 1d-12
  do i = 1, length
    a(i) = 1.5d0 + i
    b(i) = 2.25d0 + i
    c(i) = 0.75 + i
    places(i) = length + 1 - i
  end do
  do n = 1, runs
#ifdef GATHER
    call gather(a, b, places)
#endif
#ifdef SCALED
    call scaled(a, b, factor)
#endif
#ifdef MIXED
    call mixed(total, c)
#endif
#ifdef UPDATE
    call update(a, b, factor)
#endif
  end do
  if (sum(a) < 0 .or. sum(c) + total < 0 .or. sum(b) < 0 .or. sum(places) < 0) stop 1
end program
