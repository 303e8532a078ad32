from __future__ import annotations

from edge_asr.resources.sound import CaptureDevice, SoundCard, read_capture_devices, read_sound_cards
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


def test_a_card_is_known_by_its_id_and_by_the_port_it_is_plugged_into(tmp_path):
    write_tree(tmp_path, {"proc/asound/card0/id": "b1\n", "proc/asound/card1/id": "Device\n"})
    port = tmp_path / "sys/devices/platform/soc/usb1/1-1/1-1.3/1-1.3:1.0"
    port.mkdir(parents=True)
    (tmp_path / "sys/class/sound/card1").mkdir(parents=True)
    (tmp_path / "sys/class/sound/card1/device").symlink_to(port)
    assert read_sound_cards(tmp_path) == (SoundCard(0, "b1", ""), SoundCard(1, "Device", "1-1.3"))


def test_a_machine_without_sound_has_no_card(tmp_path):
    assert read_sound_cards(rk3588(tmp_path)) == ()
