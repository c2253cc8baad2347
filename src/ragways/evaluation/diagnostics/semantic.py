"""Figures of how vectors lie: how many dimensions they fill, whether some are near everything, how far apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragways.evaluation.diagnostics.sample import Sample, take

Floats = NDArray[np.float64]
Points = NDArray[np.float32]

MOST = 10_000
"""Points whose neighbours are sought among each other: time grows with the square."""
_ROWS = 512
_ROWS_OF_CENTROID = 8192


@dataclass(frozen=True, slots=True)
class CentroidDistance:
    """Cosine distance (1 − cosine) of each chunk to the mean of all."""

    mean: float
    deviation: float
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Semantic:
    """None is a figure that is not defined for these vectors, never 0."""

    chunks: int
    dimension: int
    """Numbers of a vector."""
    intrinsic_dimension: float | None
    """TwoNN: 1 / mean of ln(r2 / r1), r1 and r2 the distances to the two nearest others."""
    duplicates: int
    """Chunks with another in the very same place (r1 = 0), which TwoNN leaves out."""
    hubness: float | None
    """Skewness of how often a chunk is among the k nearest of another; 0 where none is preferred."""
    hubness_k: int
    centroid_distance: CentroidDistance | None
    neighbours_of: Sample
    """What dimension, duplicates and hubness were taken from. The distances to the centroid are of all chunks."""


def semantic(vectors: Points, *, k: int = 10, most: int = MOST, seed: int = 0) -> Semantic:
    rows, sample = take(len(vectors), most, seed)
    points = np.asarray(vectors if sample.whole else vectors[rows], dtype=np.float32)
    near, distances = nearest(points, k)
    dimension, duplicates = intrinsic_dimension(distances)
    return Semantic(
        chunks=len(vectors),
        dimension=vectors.shape[1],
        intrinsic_dimension=dimension,
        duplicates=duplicates,
        hubness=hubness(near, len(points)),
        hubness_k=near.shape[1],
        centroid_distance=centroid_distance(vectors),
        neighbours_of=sample,
    )


def nearest(points: Points, k: int) -> tuple[NDArray[np.int64], Floats]:
    """The k nearest others of each point, exactly, and how far they are: nearest first, equal ones by number."""
    size = len(points)
    k = max(0, min(k, size - 1))
    near, distances = np.empty((size, k), np.int64), np.empty((size, k))
    if not k:
        return near, distances
    # Moved to their mean, points lose no digits to a common part.
    points = points - points.mean(axis=0)
    squares = np.einsum("ij,ij->i", points, points)
    for begin in range(0, size, _ROWS):
        rows = points[begin : begin + _ROWS]
        here = squares - 2 * (rows @ points.T)
        here[np.arange(len(rows)), np.arange(begin, begin + len(rows))] = np.inf
        found = np.sort(np.argpartition(here, k - 1, axis=1)[:, :k], axis=1)
        # The square trick rounds small distances away, and r1 / r2 of near points is what TwoNN lives on.
        exact = np.linalg.norm(rows[:, None, :].astype(np.float64) - points[found], axis=2)
        order = np.argsort(exact, axis=1, kind="stable")
        near[begin : begin + len(rows)] = np.take_along_axis(found, order, axis=1)
        distances[begin : begin + len(rows)] = np.take_along_axis(exact, order, axis=1)
    return near, distances


def intrinsic_dimension(distances: Floats) -> tuple[float | None, int]:
    """TwoNN from distances to the nearest others, and the number of points left out because one lies upon them."""
    if distances.shape[1] < 2:
        return None, int((distances[:, :1] == 0).sum())
    apart = distances[:, 0] > 0
    mean = float(np.log(distances[apart, 1] / distances[apart, 0]).mean()) if apart.any() else 0.0
    return (1 / mean if mean > 0 else None), int((~apart).sum())


def hubness(near: NDArray[np.int64], size: int) -> float | None:
    """Skewness of k-occurrence: in how many lists of the k nearest each point stands."""
    counts = np.bincount(near.ravel(), minlength=size).astype(np.float64)
    if not near.size or not counts.std():
        return None
    return float((((counts - counts.mean()) / counts.std()) ** 3).mean())


def centroid_distance(vectors: Points) -> CentroidDistance | None:
    """Of all vectors, a slice at a time, so that they need not fit into memory."""
    slices = range(0, len(vectors), _ROWS_OF_CENTROID)
    total = np.zeros(vectors.shape[1])
    for at in slices:
        total += vectors[at : at + _ROWS_OF_CENTROID].sum(axis=0, dtype=np.float64)
    length = float(np.linalg.norm(total))
    if not length:
        return None
    centre = (total / length).astype(np.float32)
    found = np.empty(len(vectors))
    for at in slices:
        rows = np.asarray(vectors[at : at + _ROWS_OF_CENTROID])
        lengths = np.linalg.norm(rows, axis=1)
        found[at : at + len(rows)] = 1 - (rows @ centre) / np.where(lengths, lengths, 1)
    return CentroidDistance(float(found.mean()), float(found.std()), float(found.min()), float(found.max()))
