! bench/named_objects.py: an allocatable, a common block, SAVEd and automatic arrays.
module field
  implicit none
  real(8), allocatable :: grid(:, :)
contains
  subroutine make_grid(n)
    integer, intent(in) :: n
    allocate(grid(n, n))
    grid = 0
    grid(1, :) = 1
  end subroutine
end module

subroutine relax(n)
  use field
  implicit none
  integer, intent(in) :: n
  real(8) :: old
  real(8), save :: lines(4096)
  real(8) :: before(n)
  real(8) :: weights(512, 512)
  common /shared/ weights
  integer :: i, j
  before = grid(:, 1)
  do j = 2, n - 1
    do i = 2, n - 1
      old = grid(i, j)
      grid(i, j) = 0.25d0 * (before(i) + grid(i - 1, j) + grid(i + 1, j) + grid(i, j + 1)) &
                   * weights(mod(i, 512) + 1, mod(j, 512) + 1)
      before(i) = old
    end do
    lines(mod(j, 4096) + 1) = before(n / 2)
  end do
end subroutine

program heat
  use field
  implicit none
  integer, parameter :: n = 700
  real(8) :: weights(512, 512)
  common /shared/ weights
  integer :: step
  weights = 1
  call make_grid(n)
  do step = 1, 6
    call relax(n)
  end do
  print *, sum(grid)
end program
