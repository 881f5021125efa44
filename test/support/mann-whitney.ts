/**
 * The z value of the Mann-Whitney U test: above 0 when values of `one` tend to be larger. Ties get their mean
 * rank.
 */
export function computeMannWhitneyZ(one: readonly number[], other: readonly number[]): number {
  const all = [
    ...one.map((value) => ({ value, isOne: true })),
    ...other.map((value) => ({ value, isOne: false })),
  ]
  all.sort((a, b) => a.value - b.value)
  let rankSum = 0
  for (let start = 0; start < all.length; ) {
    let end = start
    while (end < all.length && all[end]?.value === all[start]?.value) end++
    const meanRank = (start + 1 + end) / 2
    for (let i = start; i < end; i++) if (all[i]?.isOne) rankSum += meanRank
    start = end
  }
  const [n, m] = [one.length, other.length]
  const u = rankSum - (n * (n + 1)) / 2
  return (u - (n * m) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12)
}
