"""Whole boards as they come, and each in the state that a finding is about."""

from __future__ import annotations

import shutil
from collections.abc import Iterable

import pytest

from edge_asr.diagnosis.examination import examine_board, examine_doors, examine_sound, examine_store
from edge_asr.diagnosis.finding import Finding
from edge_asr.settings import ServerSettings
from edge_asr.store.catalogue import catalogue_directory
from edge_asr.store.locations import StoreLocations
from edge_asr.store.store import ModelStore
from tests.boards import raspberry_pi_3, raspberry_pi_4, raspberry_pi_5, rk3588, virtual_machine, write_tree, x86_server
from tests.boards.raspberry_pi import raspberry_pi_4_with_32_bit_system
from tests.boards.tree import accounts, microphone, policy, program, swap, zone

THROTTLED = "sys/devices/platform/soc/soc:firmware/get_throttled"


def troubles(findings: Iterable[Finding]) -> list[str]:
    return [finding.code for finding in findings if finding.level != "ok"]


def found(findings: Iterable[Finding], code: str) -> Finding:
    (finding,) = [finding for finding in findings if finding.code == code]
    return finding


@pytest.mark.parametrize(
    ("board", "expected"),
    [
        (raspberry_pi_3, ["no_dot_product", "governor_follows_load", "memory_cgroup_off", "swap_on_sd_card"]),
        (raspberry_pi_4, ["no_dot_product", "governor_follows_load", "memory_cgroup_off", "swap_on_sd_card"]),
        (raspberry_pi_5, ["governor_follows_load", "memory_cgroup_off"]),
        (rk3588, ["governor_follows_load"]),
        (x86_server, ["governor_follows_load"]),
        (virtual_machine, []),
    ],
)
def test_a_board_as_it_comes_has_these_troubles(board, expected, tmp_path):
    assert troubles(examine_board(board(tmp_path))) == expected


def test_nothing_on_a_board_as_it_comes_stops_it(tmp_path):
    assert all(finding.level != "error" for finding in examine_board(raspberry_pi_3(tmp_path)))


def test_every_trouble_says_why_it_matters_and_what_to_do(tmp_path):
    raspberry_pi_4_with_32_bit_system(tmp_path)
    write_tree(tmp_path, {THROTTLED: "e0008"} | zone(0, "cpu-thermal", 84_000))
    for finding in (*examine_board(tmp_path), *examine_sound(tmp_path)):
        assert finding.level == "ok" or (finding.why and finding.advice), finding


def test_a_32_bit_system_is_found(tmp_path):
    assert found(examine_board(raspberry_pi_4_with_32_bit_system(tmp_path)), "system_32_bit").level == "warning"


def test_a_64_bit_system_is_well(tmp_path):
    assert found(examine_board(raspberry_pi_4(tmp_path)), "system").level == "ok"


def test_cores_without_dot_product_are_named(tmp_path):
    assert found(examine_board(raspberry_pi_3(tmp_path)), "no_dot_product").what == (
        "no instruction for 8-bit dot products (Cortex-A53)"
    )


def test_cores_with_it_are_well(tmp_path):
    assert "Cortex-A76, Cortex-A55" in found(examine_board(rk3588(tmp_path)), "cpu_features").what


def test_under_voltage_now_is_found(tmp_path):
    write_tree(raspberry_pi_4(tmp_path), {THROTTLED: "50005"})
    assert found(examine_board(tmp_path), "under_voltage").what.endswith("fell too low now")
    assert "throttled" not in troubles(examine_board(tmp_path))  # the same cause once


def test_under_voltage_in_the_past_is_found(tmp_path):
    write_tree(raspberry_pi_4(tmp_path), {THROTTLED: "10000"})
    assert found(examine_board(tmp_path), "under_voltage").what.endswith("since it was started")


def test_heat_in_the_past_is_found(tmp_path):
    write_tree(raspberry_pi_4(tmp_path), {THROTTLED: "80000"})
    assert found(examine_board(tmp_path), "throttled").what == (
        "the firmware slowed this board down since it was started (soft temperature limit)"
    )


def test_heat_beside_under_voltage_is_a_trouble_of_its_own(tmp_path):
    write_tree(raspberry_pi_4(tmp_path), {THROTTLED: "90008"})
    assert {"under_voltage", "throttled"} <= set(troubles(examine_board(tmp_path)))


def test_a_board_that_was_always_well_fed_and_cool_is_well(tmp_path):
    assert found(examine_board(raspberry_pi_5(tmp_path)), "power").level == "ok"


def test_the_voltage_sensor_is_asked_where_the_firmware_says_nothing(tmp_path):
    sensor = "sys/class/hwmon/hwmon1"
    write_tree(rk3588(tmp_path), {f"{sensor}/name": "rpi_volt", f"{sensor}/in0_lcrit_alarm": "1"})
    assert "under_voltage" in troubles(examine_board(tmp_path))


def test_a_hot_board_is_found_and_a_warm_one_is_well(tmp_path):
    assert found(examine_board(raspberry_pi_4(tmp_path)), "temperature").what == "the hottest sensor reads 48 °C"
    write_tree(tmp_path, zone(0, "cpu-thermal", 82_300))
    assert found(examine_board(tmp_path), "hot").what == "the hottest sensor reads 82 °C"


def test_a_governor_that_holds_the_clock_down_is_found(tmp_path):
    write_tree(raspberry_pi_4(tmp_path), policy(range(4), "powersave", "cpufreq-dt", (600_000, 600_000, 1_800_000)))
    assert found(examine_board(tmp_path), "governor_powersave").level == "warning"


def test_powersave_of_a_processor_that_clocks_itself_is_everyday(tmp_path):
    assert found(examine_board(x86_server(tmp_path)), "governor_follows_load").level == "info"


def test_a_governor_that_holds_the_clock_up_is_well(tmp_path):
    write_tree(raspberry_pi_4(tmp_path), policy(range(4), "performance", "cpufreq-dt", (600_000, 600_000, 1_800_000)))
    assert found(examine_board(tmp_path), "governor").level == "ok"


def test_the_memory_controller_of_a_raspberry_pi_is_switched_on_in_its_command_line(tmp_path):
    advice = found(examine_board(raspberry_pi_4(tmp_path)), "memory_cgroup_off").advice
    assert "cgroup_enable=memory to the one line of /boot/firmware/cmdline.txt" in advice


def test_a_kernel_that_does_not_obey_its_command_line_is_to_be_updated(tmp_path):
    line = "cgroup_disable=memory console=tty1 cgroup_enable=memory"
    write_tree(raspberry_pi_5(tmp_path), {"proc/cmdline": line})
    assert found(examine_board(tmp_path), "memory_cgroup_off").advice.endswith("update it")


def test_the_memory_controller_elsewhere_is_well(tmp_path):
    assert found(examine_board(rk3588(tmp_path)), "memory_cgroup").level == "ok"


def test_swap_on_the_card_is_found_with_its_size(tmp_path):
    assert found(examine_board(raspberry_pi_3(tmp_path)), "swap_on_sd_card").what == (
        "/var/swap (99 MiB) swaps to the SD card; 0 MiB are in use"
    )


def test_swap_to_compressed_memory_is_well(tmp_path):
    assert found(examine_board(raspberry_pi_5(tmp_path)), "swap").what == "swap is on /dev/zram0 (zram)"


def test_no_swap_is_well(tmp_path):
    write_tree(raspberry_pi_3(tmp_path), swap())
    assert found(examine_board(tmp_path), "swap").level == "ok"


# Sound.


def test_a_free_microphone_of_a_user_who_may_open_it_is_well(tmp_path):
    assert troubles(examine_sound(raspberry_pi_4(tmp_path))) == []


def test_a_board_without_microphone_is_found(tmp_path):
    assert troubles(examine_sound(rk3588(tmp_path))) == ["no_capture_device"]


def test_whoever_holds_the_microphone_is_named(tmp_path):
    write_tree(raspberry_pi_4(tmp_path), microphone(owner_pid=812) | program(812, "/usr/bin/arecord", "-D", "hw:1"))
    finding = found(examine_sound(tmp_path), "capture_device_held")
    assert (finding.level, finding.what) == (
        "warning",
        "Device, USB Audio (hw:1,0) is held by arecord (process 812)",
    )


def test_a_holder_that_has_ended_meanwhile_is_a_number(tmp_path):
    write_tree(raspberry_pi_4(tmp_path), microphone(owner_pid=812))
    assert found(examine_sound(tmp_path), "capture_device_held").what.endswith("is held by process 812")


def test_a_sound_server_holds_the_microphone_rightly(tmp_path):
    write_tree(raspberry_pi_4(tmp_path), microphone(owner_pid=900) | program(900, "/usr/bin/pipewire"))
    finding = found(examine_sound(tmp_path), "capture_device_held")
    assert finding.level == "info"
    assert "through the sound server" in finding.advice


def test_a_user_outside_the_group_audio_is_found(tmp_path):
    raspberry_pi_4(tmp_path)
    status = (tmp_path / "proc/self/status").read_text().replace("Groups:\t29 1000", "Groups:\t1000")
    write_tree(tmp_path, accounts(audio_members="") | {"proc/self/status": status})
    assert found(examine_sound(tmp_path), "audio_group_missing").advice.startswith("sudo usermod -aG audio pi")


def test_a_user_who_has_to_log_in_again_is_found(tmp_path):
    raspberry_pi_4(tmp_path)
    status = (tmp_path / "proc/self/status").read_text().replace("Groups:\t29 1000", "Groups:\t1000")
    write_tree(tmp_path, {"proc/self/status": status})
    assert troubles(examine_sound(tmp_path)) == ["audio_group_not_taken"]


def test_root_needs_no_group(tmp_path):
    raspberry_pi_4(tmp_path)
    status = (tmp_path / "proc/self/status").read_text().replace("\t1000", "\t0").replace("29 1000", "0")
    write_tree(tmp_path, {"proc/self/status": status})
    assert troubles(examine_sound(tmp_path)) == []


def test_a_system_service_beside_a_users_sound_server_is_found(tmp_path):
    write_tree(raspberry_pi_4(tmp_path), {"run/user/1000/pipewire-0": ""})
    finding = found(examine_sound(tmp_path), "service_outside_session")
    assert (finding.level, "/run/user/1000/pipewire-0" in finding.what) == ("warning", True)


def test_a_session_beside_its_own_sound_server_is_told_of_services(tmp_path):
    write_tree(
        raspberry_pi_4(tmp_path),
        {"run/user/1000/pulse/native": "", "proc/self/cgroup": "0::/user.slice/user-1000.slice/session-2.scope"},
    )
    assert troubles(examine_sound(tmp_path)) == ["sound_server"]


# Doors.

HEADING = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"


def listening(root, address: str, port: int, *words: str):
    """A listener on an IPv4 address in the kernel's spelling on a little-endian machine, and its owner."""
    row = f"   0: {address}:{port:04X} 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1"
    write_tree(root, {"proc/net/tcp": f"{HEADING}\n{row}"})
    if words:
        write_tree(root, program(77, *words))
        (root / "proc/77/fd").mkdir()
        (root / "proc/77/fd/3").symlink_to("socket:[4711]")
    return root


def test_free_doors_are_well(tmp_path):
    assert [finding.code for finding in examine_doors(ServerSettings(), tmp_path)] == ["port_free", "port_free"]


def test_a_port_that_another_program_took_stops_the_daemon(tmp_path):
    listening(tmp_path, "00000000", 8765, "/usr/sbin/nginx")
    finding = found(examine_doors(ServerSettings(), tmp_path), "port_taken")
    assert (finding.level, finding.what) == (
        "error",
        "nginx (process 77) listens at the http door (127.0.0.1:8765)",
    )
    assert "server.port" in finding.advice


def test_a_running_daemon_is_no_trouble(tmp_path):
    listening(tmp_path, "00000000", 10300, "/opt/edge-asr/bin/python3", "/opt/edge-asr/bin/edge-asr", "serve")
    assert [finding.code for finding in examine_doors(ServerSettings(), tmp_path)] == ["port_free", "daemon_running"]


def test_a_program_that_we_may_not_see_is_another_program(tmp_path):
    listening(tmp_path, "00000000", 8765)
    assert "root sees which" in found(examine_doors(ServerSettings(), tmp_path), "port_taken").what


def test_a_port_taken_on_another_address_is_free_here(tmp_path):
    listening(tmp_path, "0501A8C0", 8765, "/usr/sbin/nginx")  # 192.168.1.5
    assert troubles(examine_doors(ServerSettings(), tmp_path)) == []
    assert troubles(examine_doors(ServerSettings(host="0.0.0.0"), tmp_path)) == ["port_taken"]


def test_a_unix_door_that_is_taken_is_found(tmp_path):
    heading = "Num       RefCount Protocol Flags    Type St Inode Path"
    entry = "0000000000000000: 00000002 00000000 00010000 0001 01 4711 /run/edge-asr/wyoming.sock"
    write_tree(tmp_path, {"proc/net/unix": f"{heading}\n{entry}"})
    doors = ServerSettings(wyoming="unix:///run/edge-asr/wyoming.sock")
    assert troubles(examine_doors(doors, tmp_path)) == ["port_taken"]


def test_a_door_that_is_off_or_takes_any_port_needs_none(tmp_path):
    assert list(examine_doors(ServerSettings(port=0, wyoming="off"), tmp_path)) == []


# The store.


def test_whole_models_with_room_are_well(tmp_path):
    store = ModelStore(StoreLocations((tmp_path,)))
    assert "starter-en" in found(examine_store(store, "starter-en"), "models").what
    assert str(tmp_path) in found(examine_store(store, "starter-en"), "disk").what


def test_a_damaged_manifest_is_found(tmp_path):
    write_tree(tmp_path, {"models/mine/manifest.toml": "name = "})
    finding = found(examine_store(ModelStore(StoreLocations((tmp_path,))), "starter-en"), "model_damaged")
    assert (finding.level, finding.advice) == ("warning", "edge-asr models verify mine")


def test_a_file_that_was_altered_is_found(tmp_path, altered_model):
    finding = found(examine_store(ModelStore(StoreLocations((tmp_path,))), "starter-en"), "model_damaged")
    assert finding.level == "error"
    assert "tokens.txt" in finding.what


@pytest.fixture
def altered_model(tmp_path):
    """A copy of the bundled model, one byte longer."""
    shutil.copytree(catalogue_directory() / "starter-en", tmp_path / "models/starter-en")
    with (tmp_path / "models/starter-en/tokens.txt").open("a") as file:
        file.write("\n")


def test_a_store_that_cannot_be_written_is_worth_knowing(tmp_path):
    (tmp_path / "file").write_text("")
    store = ModelStore(StoreLocations((tmp_path / "file/store",)))
    assert found(examine_store(store, "starter-en"), "store_not_writable").level == "info"
