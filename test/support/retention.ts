const COLLECTION = / (Scavenge|Mark-Compact)\D*([\d.]+) \([\d.]+\) -> ([\d.]+) \([\d.]+\) MB/

/**
 * The megabytes that the collections of young objects in the output of `node --trace-gc` have left in the heap: those of
 * objects that became old ones.
 */
export function sumPromotedMb(output: string): number {
  let promoted = 0
  let previous: number | undefined
  for (const [, kind, , after] of [...output.matchAll(new RegExp(COLLECTION, 'g'))]) {
    const left = Number(after)
    if (kind === 'Scavenge' && previous !== undefined) promoted += left - previous
    previous = left
  }
  return promoted
}
