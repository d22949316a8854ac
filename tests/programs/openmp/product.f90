! A matrix-vector product by columns, with a reduction, and our marks.
program product
  use culprit_region
  implicit none
  integer, parameter :: n = 400
  integer :: i, j
  real(8) :: a(n, n), b(n), c(n), total
  do j = 1, n
    b(j) = j
    do i = 1, n
      a(i, j) = merge(2, 0, i == j)
    end do
  end do
  c = 0
  call culprit_begin('multiply')
  !$omp parallel do private(j) schedule(dynamic, 25) num_threads(3)
  do i = 1, n
    do j = 1, n
      c(i) = c(i) + a(i, j) * b(j)
    end do
  end do
  !$omp end parallel do
  call culprit_end('multiply')
  total = 0
  !$omp parallel do reduction(+:total) num_threads(3)
  do i = 1, n
    total = total + c(i)
  end do
  !$omp end parallel do
  print '(F10.1)', total
end program
