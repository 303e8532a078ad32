"""A long series in little memory."""

from collections import Counter

from edge_asr.bench.thinning import Thinned


def thinned(count: int, most: int | None, seed: int = 0) -> Thinned[int]:
    series: Thinned[int] = Thinned(most, seed)
    for number in range(count):
        series.add(number)
    return series


def test_everything_is_kept_without_a_limit():
    assert thinned(1000, None).items() == tuple(range(1000))


def test_everything_is_kept_up_to_the_limit():
    assert thinned(10, 10).items() == tuple(range(10))


def test_beyond_the_limit_a_sample_is_kept_in_order():
    series = thinned(10_000, 100)
    kept = series.items()
    assert len(kept) == len(set(kept)) == 100
    assert list(kept) == sorted(kept)


def test_all_items_are_counted():
    assert thinned(10_000, 100).count == 10_000


def test_each_item_is_as_likely_as_any_other():
    # 1000 samples of 4 out of 8: each item is expected 500 times with a deviation of 16.
    found = Counter(item for seed in range(1000) for item in thinned(8, 4, seed).items())
    assert all(abs(found[item] - 500) < 5 * 16 for item in range(8))
