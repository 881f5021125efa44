import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases'
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth'
import { maxDirectivesRule } from '@escape.tech/graphql-armor-max-directives'
import { complexityFromQuery } from '@pothos/plugin-complexity'
import {
  type ASTVisitor,
  BREAK,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getVariableValues,
  Kind,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
  visit,
} from 'graphql'
import type { Ctx } from '../ctx.ts'
import type { Cost } from './context.ts'

/** Enough for every operation of our frontends; far below what could keep a process busy. */
export const MAX_TOKENS = 2000
const MAX_DEPTH = 12
const MAX_ALIASES = 30
const MAX_DIRECTIVES = 30
/** A page of 1000 rows costs about 2000 to 4000; fifty users with three full lists each, 7700. */
const MAX_COMPLEXITY = 10_000

/**
 * Mutations that check or send a secret: at most one in an operation, so that aliases buy no guesses (security: alias
 * brute force). The real limit is in their services, which all transports share.
 */
const CREDENTIAL_FIELDS = new Set([
  'authenticatePasscode',
  'authenticateSession',
  'sendEmailPasscode',
  'sendSmsPasscode',
  'requestEmailChange',
  'requestPhoneNumberChange',
  'confirmEmailChange',
  'confirmPhoneNumberChange',
  'linkViewerIdpUser',
])

/** An error of the limits; the codes below are ours. */
const refusal = (message: string, code: string, more: { cost?: Cost } = {}): GraphQLError =>
  new GraphQLError(message, { extensions: { code, ...more, http: { status: 400, spec: true } } })

const refuseIn = (code: string) => ({
  flattenFragments: true,
  // Thrown errors would skip the other rules and the status.
  propagateOnRejection: false,
  onReject: [
    (context: ValidationContext | null, error: GraphQLError) =>
      context?.reportError(refusal(error.message.replace('Syntax Error: ', ''), code)),
  ],
})

function oneOperation(context: ValidationContext): ASTVisitor {
  return {
    Document(document) {
      const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION)
      if (operations.length > 1)
        context.reportError(refusal('A document may have one operation only.', 'QUERY_TOO_COMPLEX'))
    },
  }
}

function oneCredentialField(context: ValidationContext): ASTVisitor {
  const ofFragments = new Map<string, number>()
  const ofFragment = (name: string): number => {
    const known = ofFragments.get(name)
    if (known !== undefined) return known
    ofFragments.set(name, 0) // a cycle, which another rule refuses
    const count = ofSelections(context.getFragment(name)?.selectionSet)
    ofFragments.set(name, count)
    return count
  }
  const ofSelections = (set: SelectionSetNode | undefined): number =>
    (set?.selections ?? []).reduce((sum, node) => {
      if (node.kind === Kind.FIELD) return sum + (CREDENTIAL_FIELDS.has(node.name.value) ? 1 : 0)
      return (
        sum +
        (node.kind === Kind.FRAGMENT_SPREAD ? ofFragment(node.name.value) : ofSelections(node.selectionSet))
      )
    }, 0)
  return {
    OperationDefinition(operation) {
      if (operation.operation === 'mutation' && ofSelections(operation.selectionSet) > 1)
        context.reportError(
          refusal('An operation may check or send one credential only.', 'QUERY_TOO_COMPLEX'),
        )
    },
  }
}

/** What a document must keep to, whoever sends it and with whatever variables. */
export const LIMIT_RULES = [
  oneOperation,
  oneCredentialField,
  maxAliasesRule({ n: MAX_ALIASES, ...refuseIn('QUERY_TOO_COMPLEX') }),
  maxDepthRule({ n: MAX_DEPTH, ...refuseIn('QUERY_TOO_COMPLEX') }),
  maxDirectivesRule({ n: MAX_DIRECTIVES, ...refuseIn('QUERY_TOO_COMPLEX') }),
] as unknown as ValidationRule[]

const introspecting = new WeakMap<DocumentNode, boolean>()

/** Whether it asks for `__schema` or `__type` anywhere, fragments included. */
function introspects(document: DocumentNode): boolean {
  let found = introspecting.get(document)
  if (found === undefined) {
    found = false
    visit(document, {
      Field(node) {
        if (node.name.value !== '__schema' && node.name.value !== '__type') return undefined
        found = true
        return BREAK
      },
    })
    introspecting.set(document, found)
  }
  return found
}

export type OperationArgs = {
  schema: GraphQLSchema
  document: DocumentNode
  variableValues?: Record<string, unknown> | null
}

/** What an operation costs (null when it makes no sense), and why it is not executed: nothing when it may be. */
export type Judgement = { cost: Cost | null; faults: GraphQLError[] }

/**
 * Judges what depends on the caller or on variables, which the validation cache does not see. In production the schema
 * is shown to callers who hold a management scope only.
 */
export function judgeOperation(args: OperationArgs, ctx: Ctx, isProduction: boolean): Judgement {
  const refused = (...faults: GraphQLError[]): Judgement => ({ cost: null, faults })
  if (isProduction && ctx.scopes.size === 0 && introspects(args.document))
    return refused(refusal('Introspection needs an access token with a management scope.', 'FORBIDDEN'))
  const faults = variableFaults(args)
  if (faults.length > 0) return refused(...faults)
  const { complexity: requested } = complexityFromQuery(args.document, {
    schema: args.schema,
    variables: args.variableValues ?? {},
  })
  const cost = { requested, maximum: MAX_COMPLEXITY }
  if (requested <= MAX_COMPLEXITY) return { cost, faults: [] }
  const words = `The operation costs ${requested}; ${MAX_COMPLEXITY} is allowed. Ask for smaller pages.`
  return { cost, faults: [refusal(words, 'QUERY_TOO_COMPLEX', { cost })] }
}

/** No more than a person would mend at once. */
const MAX_VARIABLE_FAULTS = 5
const MAX_MESSAGE = 500

/**
 * What is wrong with the variables. Every fault quotes the value that it is in, so that 100 KB of members that are not
 * there would take twelve seconds to be told of: only a few are, and in short.
 */
function variableFaults({ schema, document, variableValues }: OperationArgs): GraphQLError[] {
  const operation = document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION)
  const definitions = operation?.variableDefinitions ?? []
  const options = { maxErrors: MAX_VARIABLE_FAULTS }
  const { errors = [] } = getVariableValues(schema, definitions, variableValues ?? {}, options)
  return errors.map(({ message, nodes }) => {
    const short =
      message.length > MAX_MESSAGE
        ? `${message.slice(0, MAX_MESSAGE / 2)} … ${message.slice(-MAX_MESSAGE / 2)}`
        : message
    return new GraphQLError(short, {
      nodes,
      extensions: { code: 'BAD_USER_INPUT', http: { status: 400, spec: true } },
    })
  })
}
