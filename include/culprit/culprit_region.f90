! Marks regions of a Fortran program for `culprit record --regions`. Nothing has to be linked: the
! marks are looked up when the program runs, and do nothing without Culprit.
!
!   use culprit_region
!   call culprit_begin('solve')
!   call culprit_end('solve')
module culprit_region
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: culprit_begin, culprit_end

  abstract interface
    subroutine mark(name) bind(c)
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
  end interface
  interface
    function dlsym(handle, name) bind(c, name='dlsym') result(found)
      import :: c_ptr, c_funptr, c_char
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: found
    end function
  end interface

  logical, save :: is_looked_up = .false.
  procedure(mark), pointer, save :: begin_mark => null(), end_mark => null()

contains

  subroutine look_up()
    type(c_funptr) :: found
    found = dlsym(c_null_ptr, 'culprit_region_begin' // c_null_char)
    if (c_associated(found)) call c_f_procpointer(found, begin_mark)
    found = dlsym(c_null_ptr, 'culprit_region_end' // c_null_char)
    if (c_associated(found)) call c_f_procpointer(found, end_mark)
    is_looked_up = .true.
  end subroutine

  subroutine culprit_begin(name)
    character(len=*), intent(in) :: name
    if (.not. is_looked_up) call look_up()
    if (associated(begin_mark)) call begin_mark(trim(name) // c_null_char)
  end subroutine

  subroutine culprit_end(name)
    character(len=*), intent(in) :: name
    if (.not. is_looked_up) call look_up()
    if (associated(end_mark)) call end_mark(trim(name) // c_null_char)
  end subroutine
end module
