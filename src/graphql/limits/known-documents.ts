import { type ASTNode, type DocumentNode, GraphQLError, type Location, parse, visit } from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Ctx } from '../../context/context.ts'
import { resolveCallerKey } from '../../coordination/call-budget.ts'
import { countVisits } from './document-limits.ts'

/** Sufficient for realistic operations, and far below what could block a process. */
const MAX_TOKENS = 2000
/** Comments are not among the tokens. */
const MAX_COMMENTS = 500

/** A document that is parsed, and was not taken from JSON or built. */
export const readText = (document: DocumentNode): string => document.loc?.source.body ?? ''

/** The parser calls itself for each level, and the stack of Node 24 ends before MAX_TOKENS. Throws a GraphQLError. */
function parseText(text: string): DocumentNode {
  try {
    return parse(text, { maxLexicalTokens: MAX_TOKENS, maxComments: MAX_COMMENTS })
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const extensions = { code: 'QUERY_TOO_COMPLEX', http: { status: 400, spec: true } }
    throw new GraphQLError('The document is nested too deeply.', { extensions })
  }
}

/**
 * Parses a document. The locations of its nodes have their places and the text, for the `locations` of errors, and no
 * tokens: each token refers to the next one, comments included, which took 3.6 MB for 80 KB. Throws a GraphQLError.
 */
export function parseDocument(text: string): DocumentNode {
  const document = parseText(text)
  visit(document, {
    enter(node: ASTNode) {
      const { start, end, source } = node.loc as Location
      Object.assign(node, { loc: { start, end, source } })
    },
  })
  return document
}

const MAX_KNOWN_BYTES = 32_000_000
/** Of a token, its nodes and their locations: 370 were measured at most. */
const TOKEN_BYTES = 400
/** Of a field in a compiled query, with fragments in their place. */
const COMPILED_FIELD_BYTES = 512
const CHARACTER_BYTES = 2
const ENTRY_BYTES = 500

/** The memory that a document takes with its text and its compiled form. */
const estimateBytes = (document: DocumentNode, text: string): number =>
  ENTRY_BYTES +
  text.length * CHARACTER_BYTES +
  (document.tokenCount ?? 0) * TOKEN_BYTES +
  countVisits(document) * COMPILED_FIELD_BYTES

type Caller = Pick<Ctx, 'tenant' | 'actor' | 'ip'>
/** What the documents of a tenant take of all, by their first callers. */
type TenantPart = { key: string; bytes: number; callers: Map<string, CallerPart> }
/** What the documents of a caller take. The one that was used least recently is the first. */
type CallerPart = { key: string; bytes: number; tenant: TenantPart; known: Set<Known> }
type Known = { text: string; document: DocumentNode; bytes: number; caller: CallerPart }

function findLargest<Part extends { bytes: number }>(parts: Iterable<Part>): Part | undefined {
  let largest: Part | undefined
  for (const part of parts) if (!largest || part.bytes > largest.bytes) largest = part
  return largest
}

/**
 * The documents that callers with a token have executed, by their text. They are valid, which follows from the text and
 * the schema. All else that is decided about an operation depends on the caller or the variables and is decided for
 * each request. When there is no space, the caller that has most of the tenant that has most loses the document that was
 * used least recently, and with it what WeakMaps keep of it: nobody makes the process forget the documents of all others.
 * It is found among the callers, not among the documents: a large one may displace a thousand small ones.
 * See docs/decisions/0105.
 */
export function createKnownDocuments() {
  const tenants = new Map<string, TenantPart>()
  const documents = new LRUCache<string, Known>({
    maxSize: MAX_KNOWN_BYTES,
    sizeCalculation: ({ bytes }) => bytes,
    dispose: (known) => {
      const { bytes, caller } = known
      const { tenant } = caller
      caller.known.delete(known)
      caller.bytes -= bytes
      tenant.bytes -= bytes
      if (caller.bytes === 0) tenant.callers.delete(caller.key)
      if (tenant.bytes === 0) tenants.delete(tenant.key)
    },
  })

  function openPart(by: Caller): CallerPart {
    const tenant = tenants.get(by.tenant) ?? { key: by.tenant, bytes: 0, callers: new Map() }
    tenants.set(by.tenant, tenant)
    const key = resolveCallerKey(by)
    const caller = tenant.callers.get(key) ?? { key, bytes: 0, tenant, known: new Set() }
    tenant.callers.set(key, caller)
    return caller
  }

  function forgetOne(): void {
    const caller = findLargest(findLargest(tenants.values())?.callers.values() ?? [])
    const [oldest] = caller?.known ?? []
    documents.delete(oldest?.text ?? '')
  }

  return {
    /** The known document of a text, or a new one. Throws a GraphQLError for a text that does not parse. */
    parse: (text: string): DocumentNode => {
      const known = documents.get(text)
      if (!known) return parseDocument(text)
      known.caller.known.delete(known)
      known.caller.known.add(known)
      return known.document
    },
    /** True for a document that was valid before. */
    has: (document: DocumentNode): boolean => documents.peek(readText(document))?.document === document,
    /** Keeps a valid document for the caller that executes it. */
    keep: (document: DocumentNode, by: Caller): void => {
      const text = readText(document)
      if (documents.has(text)) return
      const bytes = estimateBytes(document, text)
      while (documents.size > 0 && documents.calculatedSize + bytes > MAX_KNOWN_BYTES) forgetOne()
      const caller = openPart(by)
      const known = { text, document, bytes, caller }
      caller.known.add(known)
      caller.bytes += bytes
      caller.tenant.bytes += bytes
      documents.set(text, known)
    },
    /** What the documents take, in bytes. */
    countBytes: (): number => documents.calculatedSize,
  }
}
