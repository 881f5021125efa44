/** Variables that earlier versions had. */
const REMOVED: Record<string, string> = { METRICS: 'was replaced by METRICS_PORT and METRICS_TOKEN' }
/** Shorter names have neighbors by chance. */
const MIN_LENGTH = 6

/** The number of characters that were added, left out, changed or swapped with the next one. */
function countEdits(one: string, other: string): number {
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)]
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    for (let column = 1; column <= other.length; column++) {
      const at = (rowsBack: number, columnsBack: number) => rows[row - rowsBack]?.[column - columnsBack] ?? 0
      const isSame = one[row - 1] === other[column - 1]
      const isSwapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      current[column] = Math.min(
        at(1, 0) + 1,
        (current[column - 1] ?? 0) + 1,
        at(1, 1) + (isSame ? 0 : 1),
        isSwapped ? at(2, 2) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    rows.push(current)
  }
  return rows[one.length]?.[other.length] ?? 0
}

/**
 * Finds variables that look like misspelled ones of `names`, or that earlier versions had. Returns a warning for
 * each, with the name and without the value.
 */
export function findUnknownVariables(
  source: Record<string, string | undefined>,
  names: readonly string[],
): string[] {
  const isUnset = (name: string) => source[name] === undefined || source[name] === ''
  return Object.keys(source)
    .filter((given) => !names.includes(given) && !isUnset(given))
    .flatMap((given) => {
      if (Object.hasOwn(REMOVED, given)) return [`${given} ${REMOVED[given]}`]
      if (given.length < MIN_LENGTH) return []
      const limit = given.length < 9 ? 1 : 2
      const meant = names.find(
        (name) => name.length >= MIN_LENGTH && countEdits(given.toUpperCase(), name) <= limit,
      )
      return meant ? [`${given} is not a variable of Vestibule; ${meant} is`] : []
    })
}
