"""Which sound device is meant by the words that name it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from edge_asr.errors import DeviceNameUnclear, DeviceNotFound
from edge_asr.listening.device_choice import Names, choose_device, names_of
from edge_asr.resources.sound import SoundCard


@dataclass(frozen=True)
class Device:
    name: str
    is_default: bool = False


HEADSET = Device("Headset: USB Audio (hw:1,0)")
ARRAY = Device("ReSpeaker 4 Mic Array: USB Audio (hw:2,0)")
DEFAULT = Device("default", is_default=True)
DEVICES = (HEADSET, ARRAY, DEFAULT)
CARDS = (SoundCard(0, "b1", ""), SoundCard(1, "Headset", "1-1.3"), SoundCard(2, "ArrayUAC10", "1-1.4"))


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [
        ("", DEFAULT),
        ("default", DEFAULT),
        ("ReSpeaker 4 Mic Array: USB Audio (hw:2,0)", ARRAY),
        ("respeaker", ARRAY),
        ("ArrayUAC10", ARRAY),
        ("hw:arrayuac10", ARRAY),
        ("usb:1-1.3", HEADSET),
    ],
)
def test_a_device_goes_by_its_name_its_card_or_its_place(wanted: str, chosen: Device) -> None:
    assert choose_device(wanted, DEVICES, CARDS) == chosen


def test_the_same_words_mean_the_same_device_after_cards_changed_places() -> None:
    moved = (Device("Headset: USB Audio (hw:2,0)"), Device("ReSpeaker 4 Mic Array: USB Audio (hw:1,0)"))
    cards = (SoundCard(1, "ArrayUAC10", "1-1.4"), SoundCard(2, "Headset", "1-1.3"))
    assert choose_device("usb:1-1.3", moved, cards) == moved[0]


@pytest.mark.parametrize("wanted", ["1", "hw:1", "1,0", "hw:1,0"])
def test_numbers_are_refused(wanted: str) -> None:
    with pytest.raises(DeviceNameUnclear, match="numbers change when devices are plugged in"):
        choose_device(wanted, DEVICES, CARDS)


def test_a_name_that_fits_two_is_refused_with_both() -> None:
    with pytest.raises(DeviceNameUnclear, match=r"fits 'Headset: .*', 'ReSpeaker"):
        choose_device("usb audio", DEVICES, CARDS)


def test_a_name_that_fits_none_is_answered_with_those_there_are() -> None:
    with pytest.raises(DeviceNotFound, match=r"'webcam' records; those that do: Headset.*, default"):
        choose_device("webcam", DEVICES, CARDS)


def test_a_machine_without_a_default_device_takes_none_by_itself() -> None:
    with pytest.raises(DeviceNotFound):
        choose_device("", (HEADSET, ARRAY), CARDS)


def test_the_names_of_a_device_and_of_one_without_a_card() -> None:
    assert names_of(ARRAY, CARDS) == Names(ARRAY.name, "ArrayUAC10", "1-1.4")
    assert names_of(DEFAULT, CARDS) == Names("default", "", "")
