import { type ASTNode, type DocumentNode, type Location, parse, visit } from 'graphql'
import { LRUCache } from 'lru-cache'
import { countVisits } from './document-limits.ts'

/** Sufficient for realistic operations, and far below what could block a process. */
const MAX_TOKENS = 2000
/** Comments are not among the tokens. */
const MAX_COMMENTS = 500

/** A document that is parsed, and was not taken from JSON or built. */
const readText = (document: DocumentNode): string => document.loc?.source.body ?? ''

/**
 * Parses a document. The locations of its nodes have their places and the text, for the `locations` of errors, and no
 * tokens: each token refers to the next one, comments included, which took 3.6 MB for 80 KB. Throws a GraphQLError.
 */
export function parseDocument(text: string): DocumentNode {
  const document = parse(text, { maxLexicalTokens: MAX_TOKENS, maxComments: MAX_COMMENTS })
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

/** The memory that a document takes with its text and its compiled form. */
const estimateBytes = (document: DocumentNode, text: string): number =>
  text.length * CHARACTER_BYTES +
  (document.tokenCount ?? 0) * TOKEN_BYTES +
  countVisits(document) * COMPILED_FIELD_BYTES

/**
 * The documents that callers with a token have executed, by their text. They are valid, which follows from the text and
 * the schema. All else that is decided about an operation depends on the caller or the variables and is decided for
 * each request. The document that was used least recently is forgotten, and with it what WeakMaps keep of it.
 */
export function createKnownDocuments() {
  const documents = new LRUCache<string, DocumentNode>({
    maxSize: MAX_KNOWN_BYTES,
    sizeCalculation: estimateBytes,
  })
  return {
    /** The known document of a text, or a new one. Throws a GraphQLError for a text that does not parse. */
    parse: (text: string): DocumentNode => documents.get(text) ?? parseDocument(text),
    /** True for a document that was valid before. */
    has: (document: DocumentNode): boolean => documents.peek(readText(document)) === document,
    /** Keeps a valid document. */
    keep: (document: DocumentNode): void => {
      const text = readText(document)
      if (!documents.has(text)) documents.set(text, document)
    },
    /** What the documents take, in bytes. */
    countBytes: (): number => documents.calculatedSize,
  }
}
