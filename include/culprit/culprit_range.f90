! Marks parts of memory of a Fortran program for `culprit record --engine simulate --objects`, as
! range.h does of C. Nothing has to be linked.
!
!   use culprit_ranges
!   call culprit_range('matrix', c_loc(a), c_sizeof(a))      with a target
!   call culprit_thread_range('mine', c_loc(part), bytes)    what this thread does there
module culprit_ranges
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: culprit_range, culprit_range_mark, culprit_range_called
  public :: culprit_thread_range, culprit_thread_range_mark, culprit_thread_range_called

  abstract interface
    subroutine mark(name, at, bytes) bind(c)
      import :: c_char, c_ptr, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: at
      integer(c_size_t), value :: bytes
    end subroutine
  end interface

  ! Public, so that no compiler knows what is called.
  procedure(mark), pointer, save :: culprit_range_called => culprit_range_mark
  procedure(mark), pointer, save :: culprit_thread_range_called => culprit_thread_range_mark

  ! What the mark is told is kept, so that no compiler leaves it out.
  character(kind=c_char), volatile, save :: latest_name
  type(c_ptr), volatile, save :: latest_at
  integer(c_size_t), volatile, save :: latest_bytes

contains

  ! Culprit knows it by its name, and reads its arguments.
  subroutine culprit_range_mark(name, at, bytes) bind(c, name='culprit_range_mark')
    character(kind=c_char), intent(in) :: name(*)
    type(c_ptr), value :: at
    integer(c_size_t), value :: bytes
    latest_name = name(1)
    latest_at = at
    latest_bytes = bytes
  end subroutine

  subroutine culprit_thread_range_mark(name, at, bytes) bind(c, name='culprit_thread_range_mark')
    character(kind=c_char), intent(in) :: name(*)
    type(c_ptr), value :: at
    integer(c_size_t), value :: bytes
    latest_name = name(1)
    latest_at = at
    latest_bytes = bytes + 1
  end subroutine

  subroutine culprit_thread_range(name, at, bytes)
    character(len=*), intent(in) :: name
    type(c_ptr), intent(in) :: at
    integer(c_size_t), intent(in) :: bytes
    call culprit_thread_range_called(trim(name) // c_null_char, at, bytes)
  end subroutine

  subroutine culprit_range(name, at, bytes)
    character(len=*), intent(in) :: name
    type(c_ptr), intent(in) :: at
    integer(c_size_t), intent(in) :: bytes
    call culprit_range_called(trim(name) // c_null_char, at, bytes)
  end subroutine
end module
