import { createPublicKey } from 'node:crypto'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { parsePhoneNumberFromString } from 'libphonenumber-js'
import { NDJSON } from '../../src/core/json/ndjson.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { decodePosition } from '../../src/model/event-position.ts'
import { createOpenApiDocuments } from '../../src/rest/openapi.ts'
import type { JsonSchema } from '../../src/rest/openapi-schemas.ts'
import { restRoutes } from '../../src/server/rest-routes.ts'

type Ref = { $ref: string }
type Content = Record<string, { schema: object; example?: unknown }>
type Documented = { headers?: Record<string, Ref | { required?: boolean }>; content?: Content }
export type Operation = {
  operationId: string
  parameters: object[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, Documented | Ref>
}
export type OpenApi = {
  openapi: string
  servers: { url: string }[]
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, Record<string, unknown>>
    responses: Record<string, Documented>
    headers: Record<string, { required?: boolean }>
    parameters: Record<string, object>
    securitySchemes: Record<string, { flows?: Record<string, Record<string, unknown>> }>
  }
}

/** The document of a tenant as clients read it. */
export const buildOpenApi = async (tenant: string): Promise<OpenApi> =>
  JSON.parse(JSON.stringify(await createOpenApiDocuments(restRoutes)(tenant)))

export type Seen = {
  method: string
  /** The path of the request. */
  path: string
  /** The body of the request, if it was JSON. */
  sent?: unknown
  status: number
  headers: Headers
  /** The body of the response; null when there was none. */
  body: unknown
}

const BASE = /^\/[^/]*\/api\/v1(?=\/)/
const toTarget = (path: string) => path.split('?', 1)[0]?.replace(BASE, '') ?? ''
/** Statuses of responses for which no operation is documented. */
const ANYWHERE = new Set([404, 405, 429, 500, 503])
const pointer = (...parts: string[]) =>
  parts.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')

const isAccepted = (parse: () => unknown): boolean => {
  try {
    return Boolean(parse())
  } catch {
    return false
  }
}

/** What is meant by typed text: nothing unseen, no white space around it, one width. */
const toMeant = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/\p{Pd}/gu, '-')
    .replace(/\s+/g, ' ')
    .trim()

/** The formats of the document that ajv-formats does not have. */
const FORMATS: Record<string, (text: string) => boolean> = {
  'idn-email': (text) =>
    /^(?:"[^"]+"|[^\s@,:"]+)@(?:\[[^\]]+\]|[^\s@,:/?#]+)$/u.test(toMeant(text)) &&
    !/\p{Emoji_Presentation}/u.test(text),
  phone: (text) =>
    isAccepted(() => parsePhoneNumberFromString(toMeant(text).replace(/^tel:/, ''))?.isPossible()),
  'local-phone': (text) =>
    /^(?:\D*\d){2}/.test(toMeant(text)) &&
    /^[\d()./ -]+(?: ?(?:;ext=|;?ext\.? ?|x|#) ?\d{1,15})?$/i.test(toMeant(text).replace(/^tel:/, '')),
  'time-zone': (text) =>
    /^[A-Za-z]/.test(text) && isAccepted(() => new Intl.DateTimeFormat('en', { timeZone: text })),
  'language-tag': (text) => isAccepted(() => new Intl.Locale(text.replaceAll('_', '-'))),
  pem: (text) => isAccepted(() => createPublicKey(text)),
  'event-position': (text) => isAccepted(() => decodePosition(text)),
  cursor: (text) => /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/.test(text),
}

/** The document with its validators, which are compiled on demand, once per process. */
export class Contract {
  readonly document: OpenApi
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true })
  readonly #compiled = new Map<string, ValidateFunction>()
  readonly #bySchema = new WeakMap<object, ValidateFunction>()
  readonly #templates: { path: string; pattern: RegExp }[]

  constructor(document: OpenApi) {
    this.document = document
    this.#templates = Object.keys(document.paths)
      .map((path) => ({ path, pattern: new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`) }))
      // Static paths win over parameters.
      .sort((a, b) => a.path.split('{').length - b.path.split('{').length)
    addFormats.default(this.#ajv)
    for (const [name, isOfFormat] of Object.entries(FORMATS)) this.#ajv.addFormat(name, isOfFormat)
    this.#ajv.addSchema(this.document, 'openapi.json')
  }

  /** The schema that a reference such as `#/components/schemas/User` names. */
  resolve = (reference: string): JsonSchema | undefined =>
    this.document.components.schemas[reference.split('/').at(-1) ?? '']

  /** Whether a schema of the document allows a value. */
  isValid(schema: object, value: unknown): boolean {
    let validate = this.#bySchema.get(schema)
    if (!validate) {
      const text = JSON.stringify(schema).replaceAll('"#/components/', '"openapi.json#/components/')
      validate = this.#ajv.compile(JSON.parse(text))
      this.#bySchema.set(schema, validate)
    }
    return validate(value)
  }

  /** Describes how a value violates the schema at a place in the document. */
  findIssues(place: string, value: unknown): string[] {
    let validate = this.#compiled.get(place)
    if (!validate) {
      validate = this.#ajv.compile({ $ref: `openapi.json#/${place}` })
      this.#compiled.set(place, validate)
    }
    if (validate(value)) return []
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${instancePath || '(body)'} ${message} ${JSON.stringify(params)}`,
    )
  }

  /** The place of the schema of a response line; undefined for responses that are not lines. */
  findLinePlace(method: string, path: string): string | undefined {
    const template = this.findTemplate(toTarget(path)) ?? ''
    const answer = this.document.paths[template]?.[method.toLowerCase()]?.responses['200']
    const isLines = answer && 'content' in answer && answer.content?.[NDJSON]
    return isLines
      ? pointer('paths', template, method.toLowerCase(), 'responses', '200', 'content', NDJSON, 'schema')
      : undefined
  }

  findTemplate = (path: string) => this.#templates.find(({ pattern }) => pattern.test(path))?.path

  /** Describes how a response violates the document. */
  findResponseIssues({ method, path, sent, status, headers, body }: Seen): string[] {
    const target = toTarget(path)
    const isPreflight = method === 'OPTIONS' && status === 204
    if (target === '/openapi.json' || isPreflight) return []
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
    const template = this.findTemplate(target)
    const operation = template && this.document.paths[template]?.[verb]
    if (!operation)
      return ANYWHERE.has(status)
        ? this.findIssues('components/schemas/Error', body)
        : [`status ${status} where no operation is`]
    const documented = operation.responses[status]
    if (!documented) return [`status ${status} is not documented`]
    const place =
      '$ref' in documented
        ? documented.$ref.slice(2)
        : pointer('paths', template, verb, 'responses', `${status}`)
    const answer =
      '$ref' in documented
        ? this.document.components.responses[documented.$ref.replace('#/components/responses/', '')]
        : documented
    const issues = Object.entries(answer?.headers ?? {}).flatMap(([name, header]) => {
      const { required } = '$ref' in header ? (this.document.components.headers[name] ?? {}) : header
      return required && !headers.has(name) ? [`has no header ${name}`] : []
    })
    const mediaType = headers.get('content-type')?.split(';', 1)[0] ?? ''
    if (method !== 'HEAD')
      if (!answer?.content?.[mediaType]) issues.push(`media type ${mediaType} is not documented`)
      else if (mediaType === 'application/json')
        issues.push(...this.findIssues(`${place}/content/${pointer(mediaType)}/schema`, body))
    if (status < 300 && sent !== undefined && operation.requestBody?.content['application/json'])
      issues.push(
        ...this.findIssues(
          pointer('paths', template, verb, 'requestBody', 'content', 'application/json', 'schema'),
          sent,
        ).map((issue) => `was accepted, although the document rejects it: ${issue}`),
      )
    return issues
  }
}

let contract: Promise<Contract> | undefined
export const getContract = (): Promise<Contract> => {
  contract ??= buildOpenApi(SYSTEM_TENANT).then((document) => new Contract(document))
  return contract
}

/** Throws when a response of the REST API violates openapi.json. */
export async function checkAnswer(seen: Seen): Promise<void> {
  const issues = (await getContract()).findResponseIssues(seen)
  if (issues.length > 0)
    throw new Error(
      `${seen.method} ${seen.path} answered ${seen.status}, which violates openapi.json:\n  ${issues.join('\n  ')}\n${JSON.stringify(seen.body)?.slice(0, 2000)}`,
    )
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Forwards lines as they arrive, after checking each. */
function checkLines(
  contract: Contract,
  place: string,
  name: string,
): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder()
  let rest = ''
  const check = (line: string) => {
    const issues = line ? contract.findIssues(place, parseJson(line)) : []
    if (issues.length > 0)
      throw new Error(
        `${name} answered a line that is which violates openapi.json:\n  ${issues.join('\n  ')}\n${line}`,
      )
  }
  return new TransformStream({
    transform(chunk, controller) {
      const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) check(line)
      controller.enqueue(chunk)
    },
    flush: () => check(rest),
  })
}

/**
 * Checks the response to a REST request that was sent with fetch, and returns it for reading. The lines of an
 * NDJSON response are checked as they arrive.
 */
export async function checkResponse(
  path: string,
  init: RequestInit | undefined,
  response: Response,
): Promise<Response> {
  const method = init?.method ?? 'GET'
  const mediaType = response.headers.get('content-type')?.split(';', 1)[0]
  await checkAnswer({
    method,
    path,
    sent: typeof init?.body === 'string' ? parseJson(init.body) : undefined,
    status: response.status,
    headers: response.headers,
    body: mediaType === 'application/json' ? parseJson(await response.clone().text()) : null,
  })
  const contract = await getContract()
  const place = contract.findLinePlace(method, path)
  if (mediaType !== NDJSON || !response.body || !place) return response
  return new Response(response.body.pipeThrough(checkLines(contract, place, `${method} ${path}`)), response)
}
