import { isJsonObject } from '../../core/json/json-object.ts'

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === '' ||
  (Array.isArray(value) && value.length === 0)

const toSorted = (items: readonly unknown[]): unknown[] =>
  [...items].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

const haveObjects = (items: readonly unknown[]): boolean => items.some(isJsonObject)

/**
 * Whether a value of a file is the stored one. Members of nested objects that the file leaves out are empty; the order of
 * objects in a list, which the server sorts, does not count.
 */
export function isSame(given: unknown, stored: unknown): boolean {
  if (Array.isArray(given) && Array.isArray(stored)) {
    if (given.length !== stored.length) return false
    if (!haveObjects(given)) return given.every((item, index) => isSame(item, stored[index]))
    const rest = toSorted(stored)
    return toSorted(given).every((item) => {
      const index = rest.findIndex((other) => isSame(item, other))
      if (index >= 0) rest.splice(index, 1)
      return index >= 0
    })
  }
  if (isJsonObject(given) && isJsonObject(stored)) {
    const names = new Set([...Object.keys(given), ...Object.keys(stored)])
    return [...names].every((name) =>
      given[name] === undefined ? isEmpty(stored[name]) : isSame(given[name], stored[name]),
    )
  }
  return given === stored || (given === '' && stored === null)
}
