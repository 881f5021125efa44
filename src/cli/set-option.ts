import { InvalidInput } from '../core/errors.ts'
import { parseExactJson } from '../core/json/exact-json.ts'
import { isJsonObject } from '../core/json/json-object.ts'

/** The option `--set` of a command that takes members of `what`. */
export const buildSetArg = (what: string) =>
  ({
    set: {
      type: 'string',
      valueHint: 'member=value',
      description: `Other members of the ${what}: member=value, repeatable, or a JSON object. A value is JSON, or else text`,
    },
  }) as const

/** The values of a repeatable option, in their order. */
function listValues(rawArgs: readonly string[], option: string): string[] {
  const end = rawArgs.indexOf('--')
  const args = end === -1 ? rawArgs : rawArgs.slice(0, end)
  return args.flatMap((arg, index) => {
    if (arg === option) return [args[index + 1] ?? '']
    return arg.startsWith(`${option}=`) ? [arg.slice(option.length + 1)] : []
  })
}

/** The value of JSON, or undefined. */
function parseJson(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch {
    return undefined
  }
}

/** The members of one `--set`; null when it is neither `member=value` nor a JSON object. */
function parseSet(text: string): [name: string, value: unknown][] | null {
  const [, name, value] = /^([A-Za-z]\w*)=(.*)$/s.exec(text) ?? []
  if (name !== undefined && value !== undefined) return [[name, parseJson(value) ?? toText(value)]]
  const members = parseJson(text)
  return isJsonObject(members) ? Object.entries(members) : null
}

const toText = (value: string): string | null => (value === 'null' ? null : value)

/** The members of all `--set`, the last of each name. Throws InvalidInput. */
export function parseMembers(rawArgs: readonly string[]): Record<string, unknown> {
  const parsed = listValues(rawArgs, '--set').map(parseSet)
  if (parsed.includes(null))
    throw new InvalidInput(
      [{ field: 'set', description: 'must be member=value or a JSON object such as {"member":["value"]}' }],
      'The command is not valid.',
    )
  return Object.fromEntries(parsed.flatMap((members) => members ?? []))
}
