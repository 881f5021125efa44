import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, openSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import { env } from '../../src/core/env.ts'
import { registry } from '../../src/core/metrics.ts'
import { formatForTerminal, openLines } from '../../src/core/requests/lines.ts'
import { ensureBuilt } from '../support/build.ts'
import { test as base } from '../support/fixtures.ts'
import { freePort, type ServerProcess, startServer } from '../support/process.ts'
import { openEventStream, openSocket } from '../support/streams.ts'

type Line = Record<string, string | number | boolean | undefined>

type Span = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  attributes: { key: string; value: Record<string, unknown> }[]
}
/** The spans that the collector has received, with their texts. */
const spans: Span[] = []
const received: string[] = []

/** A collector of OTLP over HTTP, in JSON. */
async function startCollector() {
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => {
      received.push(body)
      for (const { scopeSpans } of JSON.parse(body).resourceSpans)
        for (const scope of scopeSpans) spans.push(...scope.spans)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, close: () => server.close() }
}

/** A server of its own that says everything it can about its requests. */
const test = base.extend('observed', { scope: 'file' }, async ({ app: _ }, { onCleanup }) => {
  const collector = await startCollector()
  const { DATA_DIR, ENCRYPTION_KEY, DATABASE_URL, REDIS_URL, REDIS_PREFIX } = process.env
  const server = await startServer({
    ...{ DATA_DIR, ENCRYPTION_KEY, DATABASE_URL, REDIS_URL, REDIS_PREFIX },
    BASE_URL: env.baseUrl,
    LOG_REQUESTS: '1',
    TRUST_PROXY: '1',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '100',
    METRICS_PORT: String(await freePort()),
  })
  onCleanup(async () => {
    await server.kill()
    collector.close()
  })
  return server
})

const readLines = (server: ServerProcess): Line[] =>
  server
    .output()
    .split('\n')
    .filter((line) => line.includes('"msg":"request"'))
    .map((line) => JSON.parse(line))

/** Waits for the line of a request, which is written after its answer. */
const findLine = async (server: ServerProcess, wanted: Line): Promise<Line> => {
  await expect.poll(() => readLines(server)).toContainEqual(expect.objectContaining(wanted))
  return readLines(server).find((line) =>
    Object.entries(wanted).every(([name, value]) => line[name] === value),
  ) as Line
}

test('a flood of lines is dropped and counted, and holds up nothing, while standard output is not read', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'vestibule-lines-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const pipe = join(directory, 'pipe')
  execFileSync('mkfifo', [pipe])
  const fd = openSync(pipe, 'r+')
  const output = openLines(fd)
  const line = `${'x'.repeat(199)}\n`
  const start = performance.now()
  for (let count = 0; count < 10_000; count += 1) {
    output.write(line)
    if (count % 100 === 0) await new Promise(setImmediate)
  }
  expect(performance.now() - start).toBeLessThan(2000)
  const dropped = Number(/^vestibule_request_lines_dropped_total (\d+)$/m.exec(await registry.metrics())?.[1])
  expect(dropped).toBeGreaterThan(4000)
  // The reader is back: what was kept arrives whole.
  let text = ''
  const reader = createReadStream(pipe, 'utf8').on('data', (chunk) => (text += chunk))
  await expect.poll(() => text.length).toBe((10_000 - dropped) * line.length)
  expect(new Set(text.split('\n'))).toEqual(new Set([line.trim(), '']))
  output.destroy()
  reader.destroy()
})

test('a line for a terminal has the colors of its status', () => {
  const facts = {
    method: 'GET',
    route: '/:tenant/oidc/token',
    ms: 3.2,
    databaseMs: 1,
    statements: 2,
    tenant: 'acme',
  }
  const color = (status: number) =>
    formatForTerminal({ ...facts, status })
      .split(String(status))[0]
      ?.slice(-5)
  expect([200, 302, 404, 500].map(color)).toEqual(['\u001b[32m', '\u001b[36m', '\u001b[33m', '\u001b[31m'])
})

describe('the lines of requests', { timeout: 60_000 }, () => {
  test('have route, status, times, statements and caller of each request, and no text of it', async ({
    observed,
    tenant,
    token,
  }) => {
    const url = `${observed.origin}/${tenant}`
    const headers = { authorization: `Bearer ${token}`, 'x-request-id': 'request-of-the-test-1' }
    const secret = 'S3CRET-in-a-query'
    await (await fetch(`${url}/api/v1/users?email=${secret}%40example.com`, { headers })).text()
    const line = await findLine(observed, { requestId: 'request-of-the-test-1' })
    expect(line).toEqual({
      level: 'info',
      time: expect.any(String),
      msg: 'request',
      method: 'GET',
      route: '/:tenant/api/v1/users',
      status: 200,
      ms: expect.any(Number),
      databaseMs: expect.any(Number),
      statements: expect.any(Number),
      tenant,
      client: expect.stringMatching(/^client_/),
      requestId: 'request-of-the-test-1',
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
    })
    expect(line.statements).toBeGreaterThan(0)
    expect(line.databaseMs).toBeGreaterThan(0)
    expect(line.databaseMs).toBeLessThanOrEqual(line.ms as number)
    // Paths, ids and headers of strangers, with line ends and more.
    const hostile = `${secret}%0d%0a{"level":"fatal"}`
    await fetch(`${observed.origin}/${hostile}/${hostile}`, { headers: { 'x-request-id': `${secret} x` } })
    await findLine(observed, { route: '/**', status: 404 })
    await fetch(`${url}/oidc/authorize?client_id=${hostile}&state=${secret}`, { redirect: 'manual' })
    await findLine(observed, { route: '/:tenant/oidc/authorize' })
    expect(observed.output()).not.toContain(secret)
    expect(observed.output()).not.toContain('fatal')
    for (const text of observed
      .output()
      .split('\n')
      .filter((each) => each.includes('request')))
      JSON.parse(text)
  })

  test('name the GraphQL operation if its name is short', async ({ observed, tenant, token }) => {
    const run = (query: string) =>
      fetch(`${observed.origin}/${tenant}/graphql`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      }).then((answer) => answer.text())
    await run('query FindPeople { users(first: 1) { nodes { id } } }')
    const line = await findLine(observed, { operation: 'FindPeople' })
    expect(line).toMatchObject({ route: '/:tenant/graphql', status: 200, method: 'POST', tenant })
    expect(line.statements).toBeGreaterThan(0)
    const long = `Long${'x'.repeat(60)}`
    await run(`query ${long} { tenant { id } }`)
    await run('query Afterwards { tenant { id } }')
    await findLine(observed, { operation: 'Afterwards' })
    expect(observed.output()).not.toContain(long)
  })

  test('are written for rejected, malformed, broken-off and upgraded requests, and for streams at their end', async ({
    observed,
    tenant,
    token,
  }) => {
    const url = `${observed.origin}/${tenant}/graphql`
    await fetch(`${observed.origin}/${tenant}/api/v1/users`)
    await findLine(observed, { route: '/:tenant/api/v1/users', status: 401 })

    const send = async (text: string, isCut: boolean) => {
      const socket = connect(Number(new URL(observed.origin).port), '127.0.0.1')
      await once(socket, 'connect')
      socket.write(text)
      if (isCut) setTimeout(() => socket.destroy(), 200)
      else await once(socket, 'data')
      socket.destroy()
    }
    await send('NOT HTTP\r\n\r\n', false)
    await findLine(observed, { method: '-', status: 400 })
    const head = `POST /${tenant}/oidc/token HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-www-form-urlencoded\r\n`
    void send(`${head}content-length: 100\r\n\r\ngrant_type=`, true)
    await new Promise((resolve) => setTimeout(resolve, 400))
    await findLine(observed, { status: 499, broken: true, route: '/:tenant/oidc/token' })
    await send(
      `GET /${tenant}/other HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`,
      false,
    )
    await findLine(observed, { method: 'GET', route: '-', status: 404 })

    const socket = openSocket(url.replace('http', 'ws'), token)
    await new Promise((resolve) => socket.on('connected', resolve))
    expect(readLines(observed).filter(({ status }) => status === 101)).toEqual([])
    await socket.dispose()
    await findLine(observed, { route: '/:tenant/graphql', status: 101 })

    const stream = await openEventStream(url, token, 'subscription Follow { events { __typename } }')
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(readLines(observed).filter(({ operation }) => operation === 'Follow')).toEqual([])
    stream.close()
    const line = await findLine(observed, { operation: 'Follow', status: 200, broken: true })
    expect(line.ms).toBeGreaterThan(290)
  })
})

describe('traces', { timeout: 60_000 }, () => {
  const findSpans = (traceId: string) => spans.filter((span) => span.traceId === traceId)
  const getAttributes = ({ attributes }: Span) =>
    Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

  test('continue that of the caller with spans of statements, operations and deliveries, without values', async ({
    observed,
    tenant,
    token,
    create,
  }) => {
    const traceId = randomBytes(16).toString('hex')
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      traceparent: `00-${traceId}-${'1'.repeat(16)}-00`,
    }
    const query =
      'query Traced($email: EmailAddress) { users(filter: { email: $email }, first: 1) { totalSize } }'
    const email = 'person.in.a.trace@example.com'
    const body = JSON.stringify({ query, variables: { email } })
    const answer = await fetch(`${observed.origin}/${tenant}/graphql`, { method: 'POST', headers, body })
    expect(await answer.json()).toMatchObject({ data: { users: { totalSize: 0 } } })
    await expect.poll(() => findSpans(traceId).map(({ name }) => name)).toContain('POST /:tenant/graphql')
    const found = findSpans(traceId)
    const root = found.find(({ name }) => name === 'POST /:tenant/graphql') as Span
    expect(root.parentSpanId).toBe('1'.repeat(16))
    expect(getAttributes(root)).toMatchObject({
      'http.response.status_code': 200,
      'vestibule.tenant': tenant,
    })
    const names = found.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['graphql', expect.stringMatching(/^SELECT \w+$/)]))
    for (const span of found) if (span !== root) expect(span.parentSpanId).toBe(root.spanId)
    expect(observed.output()).toContain(`"traceId":"${traceId}"`)

    const receiver = createServer((request, response) => {
      traceparents.push(String(request.headers.traceparent))
      request.resume().on('end', () => response.end())
    }).listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    onTestFinished(() => void receiver.close())
    const traceparents: string[] = []
    const { port } = receiver.address() as AddressInfo
    const secretPath = 'path-that-is-a-secret'
    await create('/webhooks', { url: `http://127.0.0.1:${port}/${secretPath}` })
    await create('/users', { email })
    await expect.poll(() => traceparents[0]).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
    const [, deliveryId = ''] = traceparents[0]?.split('-') ?? []
    await expect.poll(() => findSpans(deliveryId).map(({ name }) => name)).toContain('delivery webhooks')
    expect(findSpans(deliveryId).map(({ name }) => name)).toContain('POST')

    for (const secret of [token, email, secretPath, 'Bearer']) expect(received.join()).not.toContain(secret)
    const parameters = new Set(spans.flatMap(({ attributes }) => attributes.map(({ key }) => key)))
    expect(parameters).not.toContain('db.query.text')
  })
})

test('OpenTelemetry is a part of the program that nothing loads at its start', () => {
  ensureBuilt()
  const read = (path: string) => readFileSync(path, 'utf8')
  const reached = new Set<string>()
  const visit = (path: string): void => {
    if (reached.has(path)) return
    reached.add(path)
    for (const [, target = ''] of read(path).matchAll(/^(?:import|export)\b[^;]*?"(\.[^"]+\.js)";$/gm))
      visit(join(dirname(path), target))
  }
  visit('dist/main.js')
  for (const [, target = ''] of read('dist/main.js').matchAll(/import\("(\.[^"]+)"\)/g))
    visit(join('dist', target))
  expect(reached.size).toBeGreaterThan(5)
  const withSdk = (path: string) => read(`${path}.map`).includes('node_modules/@opentelemetry/sdk-trace/')
  expect([...reached].filter(withSdk)).toEqual([])
  const chunks = readdirSync('dist/chunks').filter((name) => name.endsWith('.js'))
  expect(chunks.filter((name) => withSdk(join('dist/chunks', name)))).toEqual([
    expect.stringMatching(/^otel-/),
  ])
})
