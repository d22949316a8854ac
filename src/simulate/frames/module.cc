// libculprit_frames.so: what the plugin loads into QEMU to know the variables in functions' frames.

#include "simulate/frames/dwarf_frames.h"

extern "C" __attribute__((visibility("default"))) culprit::objects::FrameSource*
culprit_open_frame_source(const char* path) {
  return culprit::DwarfFrames::open(path).release();
}
