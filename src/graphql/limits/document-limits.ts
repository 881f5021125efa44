import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type SelectionSetNode,
  visit,
} from 'graphql'
import { JSON_LIMIT_BYTES } from '../../http/request-body.http.ts'

/**
 * Limits of a document before it is validated. The validation of GraphQL compares all fields of one response
 * name in pairs, so that 7 KB of repeated fields took 600 ms. All limits are checked in one pass, which ends
 * at the first that is exceeded.
 */
export type DocumentLimits = {
  /** Characters of the text. */
  characters: number
  /** Fields and fragments in one selection set, as written. */
  selectionsOfSet: number
  /** Fields and fragments in the whole document, as written. */
  selections: number
  /** Pairs of fields with one response name, and fields visited to find them, with fragments in their place. */
  pairs: number
  visits: number
  /** Values inside lists and objects. */
  values: number
  variables: number
}

export const CALLER_LIMITS: DocumentLimits = {
  characters: JSON_LIMIT_BYTES,
  selectionsOfSet: 150,
  selections: 500,
  pairs: 1000,
  visits: 2000,
  values: 500,
  variables: 100,
}
/** Without a token, a document can only introspect the schema. */
export const ANONYMOUS_LIMITS: DocumentLimits = {
  characters: 10_000,
  selectionsOfSet: 50,
  selections: 100,
  pairs: 100,
  visits: 500,
  values: 20,
  variables: 10,
}

const LIMIT_NAMES: Record<keyof DocumentLimits, string> = {
  characters: 'characters',
  selectionsOfSet: 'selections in one set',
  selections: 'selections',
  pairs: 'repeated fields',
  visits: 'fields, with fragments in their place',
  values: 'values in lists and objects',
  variables: 'variables',
}

class LimitExceeded extends Error {
  readonly limit: keyof DocumentLimits
  constructor(limit: keyof DocumentLimits) {
    super(limit)
    this.limit = limit
  }
}

/** Counts up to the limits, and throws LimitExceeded beyond. */
const createCounter = (limits: DocumentLimits) => {
  const counts = { selections: 0, pairs: 0, visits: 0, values: 0, variables: 0 }
  return (limit: keyof typeof counts, amount = 1): void => {
    counts[limit] += amount
    if (counts[limit] > limits[limit]) throw new LimitExceeded(limit)
  }
}
type Count = ReturnType<typeof createCounter>

function countNodes(document: DocumentNode, limits: DocumentLimits, count: Count): void {
  visit(document, {
    SelectionSet: ({ selections }) => {
      if (selections.length > limits.selectionsOfSet) throw new LimitExceeded('selectionsOfSet')
      count('selections', selections.length)
    },
    VariableDefinition: () => count('variables'),
    ListValue: ({ values }) => count('values', values.length),
    ObjectValue: ({ fields }) => count('values', fields.length),
  })
}

/** Counts the pairs that the validation compares: it merges the selection sets of fields of one name. */
function countPairs(
  sets: readonly SelectionSetNode[],
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  count: Count,
): void {
  const fields = new Map<string, FieldNode[]>()
  const seen = new Set<string>()
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const node of selections) {
      count('visits')
      if (node.kind === Kind.FIELD) {
        const name = (node.alias ?? node.name).value
        const same = fields.get(name) ?? []
        count('pairs', same.length)
        same.push(node)
        fields.set(name, same)
      } else if (node.kind === Kind.INLINE_FRAGMENT) collect(node.selectionSet)
      else if (!seen.has(node.name.value)) {
        seen.add(node.name.value)
        const fragment = fragments.get(node.name.value)
        if (fragment) collect(fragment.selectionSet)
      }
    }
  }
  sets.forEach(collect)
  for (const same of fields.values()) {
    const inner = same.flatMap(({ selectionSet }) => selectionSet ?? [])
    if (inner.length > 0) countPairs(inner, fragments, count)
  }
}

/** The fields of a document with fragments in their place, once for each definition; at most those of a caller. */
export function countVisits(document: DocumentNode): number {
  let visits = 0
  countSelections(document, (limit, amount = 1) => {
    if (limit === 'visits') visits += amount
  })
  return visits
}

/** The documents that were found to be within the limits. They are forgotten with the document. */
const accepted = new WeakMap<DocumentLimits, WeakSet<DocumentNode>>([
  [CALLER_LIMITS, new WeakSet()],
  [ANONYMOUS_LIMITS, new WeakSet()],
])

/** The error of a document that exceeds a limit; null for others. A document is counted once for its limits. */
export function findDocumentError(document: DocumentNode, limits: DocumentLimits): GraphQLError | null {
  const known = accepted.get(limits)
  if (known?.has(document)) return null
  const error = countDocument(document, limits)
  if (!error) known?.add(document)
  return error
}

const createLimitError = (limit: keyof DocumentLimits, limits: DocumentLimits): GraphQLError =>
  new GraphQLError(`The document has too many ${LIMIT_NAMES[limit]}: ${limits[limit]} are allowed.`, {
    extensions: { code: 'QUERY_TOO_COMPLEX', http: { status: 400, spec: true } },
  })

/** Throws the error of a text that is too long to be parsed. */
export function assertLength(text: string, limits: DocumentLimits): void {
  if (text.length > limits.characters) throw createLimitError('characters', limits)
}

function countSelections(document: DocumentNode, count: Count): void {
  const fragments = new Map(
    document.definitions.flatMap((node) =>
      node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node] as const] : [],
    ),
  )
  for (const node of document.definitions)
    if (node.kind === Kind.OPERATION_DEFINITION || node.kind === Kind.FRAGMENT_DEFINITION)
      countPairs([node.selectionSet], fragments, count)
}

function countDocument(document: DocumentNode, limits: DocumentLimits): GraphQLError | null {
  const count = createCounter(limits)
  try {
    countNodes(document, limits, count)
    countSelections(document, count)
    return null
  } catch (error) {
    if (!(error instanceof LimitExceeded)) throw error
    return createLimitError(error.limit, limits)
  }
}

/** Members and elements of all variables. Naming one invalid member of 9,000 takes 10 ms. */
const MAX_VARIABLE_MEMBERS = 2000

/** The error of variables with too many members; null for others. */
export function findVariablesError(variables: object): GraphQLError | null {
  const waiting: unknown[] = [variables]
  let members = 0
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    const inner = typeof value === 'object' && value !== null ? Object.values(value) : []
    members += inner.length
    if (members > MAX_VARIABLE_MEMBERS)
      return new GraphQLError(`The variables have too many members: ${MAX_VARIABLE_MEMBERS} are allowed.`, {
        extensions: { code: 'QUERY_TOO_COMPLEX', http: { status: 400, spec: true } },
      })
    for (const item of inner) if (typeof item === 'object' && item !== null) waiting.push(item)
  }
  return null
}
