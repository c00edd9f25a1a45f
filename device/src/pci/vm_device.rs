//! Configuration space on the buses of the crate `vm-device`.

use vm_device::bus::{MmioAddress, MmioAddressOffset, PioAddress, PioAddressOffset};
use vm_device::{DeviceMmio, DevicePio, MutDeviceMmio, MutDevicePio};

use super::{Function, Ports, Space, Window};

/// Register it at a range of [`size`](Window::size) bytes: it uses the offset within the range.
impl<S: Space> DeviceMmio for Window<S> {
    fn mmio_read(&self, _base: MmioAddress, offset: MmioAddressOffset, data: &mut [u8]) {
        self.read(offset, data);
    }

    fn mmio_write(&self, _base: MmioAddress, offset: MmioAddressOffset, data: &[u8]) {
        self.write(offset, data);
    }
}

/// The same as for shared use.
impl<S: Space> MutDeviceMmio for Window<S> {
    fn mmio_read(&mut self, _base: MmioAddress, offset: MmioAddressOffset, data: &mut [u8]) {
        self.read(offset, data);
    }

    fn mmio_write(&mut self, _base: MmioAddress, offset: MmioAddressOffset, data: &[u8]) {
        self.write(offset, data);
    }
}

/// Register it at a range of 4 KiB within the monitor's window.
impl<S: Space> DeviceMmio for Function<S> {
    fn mmio_read(&self, _base: MmioAddress, offset: MmioAddressOffset, data: &mut [u8]) {
        self.read(offset, data);
    }

    fn mmio_write(&self, _base: MmioAddress, offset: MmioAddressOffset, data: &[u8]) {
        self.write(offset, data);
    }
}

/// The same as for shared use.
impl<S: Space> MutDeviceMmio for Function<S> {
    fn mmio_read(&mut self, _base: MmioAddress, offset: MmioAddressOffset, data: &mut [u8]) {
        self.read(offset, data);
    }

    fn mmio_write(&mut self, _base: MmioAddress, offset: MmioAddressOffset, data: &[u8]) {
        self.write(offset, data);
    }
}

/// Register it at ports CF8h to CFFh, in one range or in several: it uses the number of the port.
impl<S: Space> DevicePio for Ports<S> {
    fn pio_read(&self, base: PioAddress, offset: PioAddressOffset, data: &mut [u8]) {
        match base.0.checked_add(offset) {
            Some(port) => self.read(port, data),
            None => data.fill(0xFF),
        }
    }

    fn pio_write(&self, base: PioAddress, offset: PioAddressOffset, data: &[u8]) {
        if let Some(port) = base.0.checked_add(offset) {
            self.write(port, data);
        }
    }
}

/// The same as for shared use.
impl<S: Space> MutDevicePio for Ports<S> {
    fn pio_read(&mut self, base: PioAddress, offset: PioAddressOffset, data: &mut [u8]) {
        DevicePio::pio_read(self, base, offset, data);
    }

    fn pio_write(&mut self, base: PioAddress, offset: PioAddressOffset, data: &[u8]) {
        DevicePio::pio_write(self, base, offset, data);
    }
}
