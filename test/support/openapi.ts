import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { SYSTEM_TENANT } from '../../src/ctx.ts'
import { NDJSON } from '../../src/ndjson.ts'
import { createDocuments } from '../../src/rest/openapi.ts'
import { restRoutes } from '../../src/rest/rest.ts'

type Ref = { $ref: string }
type Content = Record<string, { schema: object; example?: unknown }>
type Documented = { headers?: Record<string, Ref | { required?: boolean }>; content?: Content }
export type Operation = {
  operationId: string
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
    securitySchemes: Record<string, { flows?: Record<string, Record<string, unknown>> }>
  }
}

/** The document of a tenant as clients read it. */
export const openApiOf = async (tenant: string): Promise<OpenApi> =>
  JSON.parse(JSON.stringify(await createDocuments(restRoutes)(tenant)))

export type Seen = {
  method: string
  /** As it was sent. */
  path: string
  /** What was sent, when it was JSON. */
  sent?: unknown
  status: number
  headers: Headers
  /** The answer's body; null when there was none. */
  body: unknown
}

const BASE = /^\/[^/]*\/api\/v1(?=\/)/
const targetOf = (path: string) => path.split('?', 1)[0]?.replace(BASE, '') ?? ''
/** Answers where no operation is. */
const ANYWHERE = new Set([404, 405, 429, 500, 503])
const pointer = (...parts: string[]) =>
  parts.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')

/** What the document says, compiled as far as it was asked for; once for each process. */
class Contract {
  readonly document: OpenApi
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true })
  readonly #compiled = new Map<string, ValidateFunction>()
  readonly #templates: { path: string; pattern: RegExp }[]

  constructor(document: OpenApi) {
    this.document = document
    this.#templates = Object.keys(document.paths)
      .map((path) => ({ path, pattern: new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`) }))
      // Static paths win over parameters.
      .sort((a, b) => a.path.split('{').length - b.path.split('{').length)
    addFormats.default(this.#ajv)
    this.#ajv.addFormat('idn-email', /^.+@.+$/s)
    this.#ajv.addSchema(this.document, 'openapi.json')
  }

  /** What a value lacks of the schema at a place in the document, in words. */
  faultsAt(place: string, value: unknown): string[] {
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

  /** Where the document says what a line of an answer is; undefined where answers are no lines. */
  placeOfLines(method: string, path: string): string | undefined {
    const template = this.templateOf(targetOf(path)) ?? ''
    const answer = this.document.paths[template]?.[method.toLowerCase()]?.responses['200']
    const isLines = answer && 'content' in answer && answer.content?.[NDJSON]
    return isLines
      ? pointer('paths', template, method.toLowerCase(), 'responses', '200', 'content', NDJSON, 'schema')
      : undefined
  }

  templateOf = (path: string) => this.#templates.find(({ pattern }) => pattern.test(path))?.path

  /** What the answer has that the document does not say, or lacks of what it says. */
  faultsOf({ method, path, sent, status, headers, body }: Seen): string[] {
    const target = targetOf(path)
    const isPreflight = method === 'OPTIONS' && status === 204
    if (target === '/openapi.json' || isPreflight) return []
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
    const template = this.templateOf(target)
    const operation = template && this.document.paths[template]?.[verb]
    if (!operation)
      return ANYWHERE.has(status)
        ? this.faultsAt('components/schemas/Error', body)
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
    const faults = Object.entries(answer?.headers ?? {}).flatMap(([name, header]) => {
      const { required } = '$ref' in header ? (this.document.components.headers[name] ?? {}) : header
      return required && !headers.has(name) ? [`has no header ${name}`] : []
    })
    const mediaType = headers.get('content-type')?.split(';', 1)[0] ?? ''
    if (method !== 'HEAD')
      if (!answer?.content?.[mediaType]) faults.push(`media type ${mediaType} is not documented`)
      else if (mediaType === 'application/json')
        faults.push(...this.faultsAt(`${place}/content/${pointer(mediaType)}/schema`, body))
    if (status < 300 && sent !== undefined && operation.requestBody?.content['application/json'])
      faults.push(
        ...this.faultsAt(
          pointer('paths', template, verb, 'requestBody', 'content', 'application/json', 'schema'),
          withNulls(sent),
        ).map((fault) => `was taken, though the document refuses it: ${fault}`),
      )
    return faults
  }
}

/** The document says of empty strings that they count as null, in words only. */
const withNulls = (value: unknown): unknown =>
  value === ''
    ? null
    : typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withNulls(member)]))
      : value

let contract: Promise<Contract> | undefined
export const theContract = (): Promise<Contract> => {
  contract ??= openApiOf(SYSTEM_TENANT).then((document) => new Contract(document))
  return contract
}

/** Throws when an answer of the REST surface is not as openapi.json says. */
export async function checkAnswer(seen: Seen): Promise<void> {
  const faults = (await theContract()).faultsOf(seen)
  if (faults.length > 0)
    throw new Error(
      `${seen.method} ${seen.path} answered ${seen.status}, not as openapi.json says:\n  ${faults.join('\n  ')}\n${JSON.stringify(seen.body)?.slice(0, 2000)}`,
    )
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Passes lines on as they come, each checked. */
function checkLines(
  contract: Contract,
  place: string,
  name: string,
): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder()
  let rest = ''
  const check = (line: string) => {
    const faults = line ? contract.faultsAt(place, parsed(line)) : []
    if (faults.length > 0)
      throw new Error(
        `${name} answered a line that is not as openapi.json says:\n  ${faults.join('\n  ')}\n${line}`,
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
 * Checks the answer to a request of the REST surface as it was made with fetch, and gives it back to be read. Of an answer
 * in lines, each is checked on its way.
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
    sent: typeof init?.body === 'string' ? parsed(init.body) : undefined,
    status: response.status,
    headers: response.headers,
    body: mediaType === 'application/json' ? parsed(await response.clone().text()) : null,
  })
  const contract = await theContract()
  const place = contract.placeOfLines(method, path)
  if (mediaType !== NDJSON || !response.body || !place) return response
  return new Response(response.body.pipeThrough(checkLines(contract, place, `${method} ${path}`)), response)
}
