import { type GraphQLOutputType, getNullableType, isLeafType, isNonNullType } from 'graphql'
import { findOwnRule, mayReadOwnField, type OwnFieldRule } from '../own-fields.ts'
import { executeField } from './execute-field.ts'
import { type ExecuteSelection, type FieldPlan, isPromise, type Run, type TypeNamePlan } from './run.ts'

/** A field whose value is the member of the source with its name. */
type Member = { rule: OwnFieldRule | null; isNonNull: boolean } & Scalar

/** The expressions that test and convert the variable `v`. */
type Scalar = { test: string; convert: string }

/** The scalars whose values are mostly those of the response already. */
const SCALARS: Record<string, Scalar> = {
  String: { test: "typeof v === 'string'", convert: 'v' },
  ID: { test: "typeof v === 'string'", convert: 'v' },
  Boolean: { test: "typeof v === 'boolean'", convert: 'v' },
  Int: { test: "typeof v === 'number' && (v | 0) === v", convert: 'v' },
  DateTime: {
    test: "(typeof v === 'string' || v instanceof Date && !Number.isNaN(v.getTime()))",
    convert: "typeof v === 'string' ? v : v.toISOString()",
  },
}

/** The field as a member, or null if a resolver or a conversion has to run. */
function findMember({ definition }: FieldPlan): Member | null {
  const type: GraphQLOutputType = getNullableType(definition.type)
  const scalar = isLeafType(type) ? SCALARS[type.name] : undefined
  const rule = definition.resolve ? findOwnRule(definition.resolve) : null
  if (!scalar || rule === undefined || definition.args.length > 0) return null
  return { rule, isNonNull: isNonNullType(definition.type), ...scalar }
}

/** Whether the caller may read the fields of a rule; decided once in a run. */
function isAllowed(run: Run, rule: OwnFieldRule): boolean {
  const known = run.allowed.get(rule)
  if (known !== undefined) return known
  const allowed = mayReadOwnField(run.contextValue, rule)
  run.allowed.set(rule, allowed)
  return allowed
}

/** Replaces the promises of an object by their values. */
function settle(result: Record<string, unknown>): Promise<unknown> {
  const pending = Object.keys(result).flatMap((name) => {
    const value = result[name]
    return isPromise(value)
      ? [
          value.then((resolved) => {
            result[name] = resolved
          }),
        ]
      : []
  })
  return Promise.all(pending).then(() => result)
}

/** Waits for the other fields, which may be rejected as well, and throws the error of one. */
async function abandon(values: readonly unknown[], error: unknown): Promise<never> {
  await Promise.allSettled(values)
  throw error
}

/** What generated functions call. */
const HELPERS = { executeField, isAllowed, isPromise, settle, abandon }

/** Writes how a member is read into its variable; a value that fails the test is executed as a field. */
function writeMember(index: number, name: string, member: Member, rules: readonly OwnFieldRule[]): string {
  const { rule, isNonNull, test, convert } = member
  const allowed = rule ? `a${rules.indexOf(rule)} && ` : ''
  const cases = [
    ...(isNonNull ? [] : [`if (${allowed}v == null) v = null`]),
    `if (${allowed}${test}) v = ${convert}`,
    `if (isPromise(v = executeField(run, fields[${index}], source, path))) hasPromise = true`,
  ]
  return `v = object[${JSON.stringify(name)}]; ${cases.join('; else ')}; v${index} = v;`
}

/**
 * Generates the function that executes a selection. Members that need no conversion are read in place; all other
 * fields, and members with unexpected values, are executed by `executeField`. Names are quoted as JSON.
 */
export function generateSelection(
  typeName: string,
  fields: readonly (FieldPlan | TypeNamePlan)[],
): ExecuteSelection {
  const members = fields.map((field) => (field.definition ? findMember(field) : null))
  const rules = [...new Set(members.flatMap((member) => member?.rule ?? []))]
  const lines = fields.map(({ definition }, index) => {
    const member = members[index]
    if (!definition) return `v${index} = ${JSON.stringify(typeName)};`
    if (member) return writeMember(index, definition.name, member, rules)
    return `if (isPromise(v${index} = executeField(run, fields[${index}], source, path))) hasPromise = true;`
  })
  const values = fields.map((_, index) => `v${index}`)
  const entries = fields.map(({ responseName }, index) => `${JSON.stringify(responseName)}: v${index}`)
  const code = `
    const { executeField, isAllowed, isPromise, settle, abandon } = helpers
    return (run, source, path) => {
      const object = typeof source === 'object' && source !== null ? source : {}
      ${rules.map((_, index) => `const a${index} = isAllowed(run, rules[${index}])`).join('\n')}
      let ${['v', ...values].join(', ')}, hasPromise = false
      try {
        ${lines.join('\n        ')}
      } catch (error) {
        if (hasPromise) return abandon([${values.join(', ')}], error)
        throw error
      }
      const result = { ${entries.join(', ')} }
      return hasPromise ? settle(result) : result
    }`
  return new Function('helpers', 'fields', 'rules', code)(HELPERS, fields, rules)
}
