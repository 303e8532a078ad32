from __future__ import annotations

from edge_asr.resources.sound import CaptureDevice, read_capture_devices
from tests.boards import raspberry_pi_4, rk3588, write_tree
from tests.boards.tree import microphone


def test_a_microphone_records_and_an_hdmi_output_does_not(tmp_path):
    (device,) = read_capture_devices(raspberry_pi_4(tmp_path))
    assert device == CaptureDevice(card=1, device=0, name="Device, USB Audio", holder_pid=None)
    assert device.alsa_name == "hw:1,0"


def test_the_kernel_knows_who_holds_a_device(tmp_path):
    write_tree(raspberry_pi_4(tmp_path), microphone(owner_pid=812))
    assert [device.holder_pid for device in read_capture_devices(tmp_path)] == [812]


def test_devices_come_in_the_order_of_their_numbers(tmp_path):
    write_tree(raspberry_pi_4(tmp_path), microphone(card=10) | microphone(card=2))
    assert [device.card for device in read_capture_devices(tmp_path)] == [1, 2, 10]


def test_a_machine_without_sound_has_no_device(tmp_path):
    assert read_capture_devices(rk3588(tmp_path)) == ()
