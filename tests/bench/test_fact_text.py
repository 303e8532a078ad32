from edge_asr.bench.fact_text import board_name, fact_text, facts


def test_nested_facts_get_dotted_names():
    assert list(facts({"engine": {"num_threads": 2}})) == [("engine.num threads", "2")]


def test_units_come_out_of_the_names():
    content = {"memory_bytes": 2**30, "max_khz": 1_800_000, "foreign_share": 0.012, "wall_s": 2.0, "hot_celsius": 61.25}
    assert dict(facts(content)) == {
        "memory": "1024 MiB",
        "max": "1800 MHz",
        "foreign share": "1.20 %",
        "wall": "2.00 s",
        "hot": "61.2 °C",
    }


def test_what_a_machine_does_not_say_is_a_dash():
    assert dict(facts({"governors": (), "swap": None})) == {"governors": "–", "swap": "–"}
    assert fact_text("has_neon", False) == "no"


def test_a_list_of_records_stands_on_one_line():
    clusters = [{"cpus": [0, 1], "name": "Cortex-A55"}, {"cpus": [2], "name": "Cortex-A76"}]
    assert fact_text("clusters", clusters) == "cpus 0, 1, name Cortex-A55; cpus 2, name Cortex-A76"


def test_a_board_is_called_by_its_model_or_else_by_its_processor():
    clusters = [{"name": "Cortex-A76"}]
    assert board_name({"model": "Raspberry Pi 5", "clusters": clusters}) == "Raspberry Pi 5"
    assert board_name({"model": None, "clusters": clusters}) == "Cortex-A76"
    assert board_name({}) == ""
