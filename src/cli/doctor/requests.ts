import { once } from 'node:events'
import http, { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import https from 'node:https'
import type { Env } from '../../core/env.ts'
import { errorMessage } from '../../core/error-message.ts'
import { STYLESHEET_PATH } from '../../pages/assets/stylesheet.ts'
import {
  createReportToken,
  REQUEST_REPORT_PATH,
  type RequestReport,
  SILENCE_MS,
} from '../../server/request-report.routes.ts'
import { type Finding, fail, ok, STEP_LIMIT_MS, warn } from './finding.ts'

const MAX_BYTES = 10_000

/** Sends a request through BASE_URL. */
function send({ baseUrl }: Env, path: string, headers: OutgoingHttpHeaders): ClientRequest {
  const { request } = baseUrl.startsWith('https:') ? https : http
  return request(`${baseUrl}${path}`, {
    headers,
    agent: false,
    signal: AbortSignal.timeout(STEP_LIMIT_MS),
  }).end()
}

async function receive(request: ClientRequest): Promise<IncomingMessage> {
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return response
}

/** The first part of the body, and how long after it the body ended, in milliseconds. */
async function readStream(response: IncomingMessage): Promise<{ text: string; pauseMs: number }> {
  let text = ''
  let start: number | undefined
  for await (const chunk of response) {
    start ??= performance.now()
    text += chunk
    if (text.length > MAX_BYTES) throw new Error('the answer is too long')
  }
  return { text, pauseMs: performance.now() - (start ?? performance.now()) }
}

const isReport = (text: string): boolean => text.startsWith('data: {"host"')

/** What the server sees of the request: scheme and host as the proxy passes them on, and the address of the caller. */
function judgeHeaders(config: Env, report: RequestReport): Finding[] {
  const { host, protocol } = new URL(config.baseUrl)
  const scheme = protocol.slice(0, -1)
  const isProxied = scheme === 'https' || report.trustProxy > 0 || report.forwardedCount > 0
  const findings = [
    isProxied && report.forwardedProto !== scheme
      ? warn(
          'proxy.scheme',
          `X-Forwarded-Proto is ${report.forwardedProto ?? 'missing'}`,
          `Have the proxy set X-Forwarded-Proto: ${scheme}.`,
        )
      : ok('proxy.scheme', isProxied ? scheme : 'no proxy'),
    report.host === host
      ? ok('proxy.host', host)
      : warn('proxy.host', `Host is ${report.host}`, `Have the proxy pass on Host: ${host}.`),
  ]
  const { forwardedCount, trustProxy, address } = report
  const found = `${address}, from ${forwardedCount} forwarded, TRUST_PROXY=${trustProxy}`
  if (forwardedCount < trustProxy)
    return [
      ...findings,
      fail('proxy.address', found, 'Have each proxy append the address of its caller to X-Forwarded-For.'),
    ]
  if (forwardedCount > 0 && trustProxy === 0)
    return [
      ...findings,
      fail(
        'proxy.address',
        `${found}: all callers count as the proxy`,
        'Set TRUST_PROXY to the number of proxies in front.',
      ),
    ]
  return [...findings, ok('proxy.address', found)]
}

/** The report of the server, as an event stream whose second event comes later. */
async function checkReport(config: Env): Promise<Finding[]> {
  const response = await receive(
    send(config, REQUEST_REPORT_PATH, {
      authorization: `Bearer ${createReportToken()}`,
      accept: 'text/event-stream',
    }),
  )
  const { text, pauseMs } = await readStream(response)
  if (response.statusCode !== 200 || !isReport(text))
    return [
      fail(
        'proxy',
        `${REQUEST_REPORT_PATH} is answered with ${response.statusCode}`,
        'Lead BASE_URL to this server, with the same ENCRYPTION_KEY and a clock that differs by less than two minutes.',
      ),
    ]
  const report = JSON.parse(text.slice('data: '.length).split('\n', 1)[0] ?? '') as RequestReport
  return [
    ok('proxy', `answers with ${response.statusCode}`),
    ...judgeHeaders(config, report),
    pauseMs < SILENCE_MS / 2
      ? fail(
          'proxy.stream',
          'events arrive late: the proxy buffers',
          'Switch off buffering for text/event-stream (nginx: proxy_buffering off).',
        )
      : ok('proxy.stream', 'events arrive at once'),
  ]
}

/** A WebSocket at the GraphQL endpoint: it opens, and ends without a token. */
async function checkWebSocket(config: Env): Promise<Finding> {
  if (config.managementPort !== undefined) return ok('proxy.websocket', 'at MANAGEMENT_PORT')
  const request = send(config, '/system/graphql', {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.alloc(16, 'doctor').toString('base64'),
    'sec-websocket-protocol': 'graphql-transport-ws',
  })
  const status = await new Promise<number | undefined>((resolve, reject) => {
    request.once('upgrade', ({ statusCode }, socket) => {
      socket.on('error', () => {}).destroy()
      resolve(statusCode)
    })
    request.once('response', (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    request.once('error', reject)
  })
  return status === 101
    ? ok('proxy.websocket', 'opens')
    : fail(
        'proxy.websocket',
        `the upgrade is answered with ${status}`,
        'Have the proxy pass on Upgrade and Connection over HTTP/1.1.',
      )
}

/** The stylesheet of the hosted pages, which the server compresses. */
async function checkCompression(config: Env): Promise<Finding> {
  const response = await receive(send(config, STYLESHEET_PATH, { 'accept-encoding': 'br, gzip' }))
  response.resume()
  const encoding = response.headers['content-encoding']
  return encoding
    ? ok('proxy.compression', encoding)
    : warn(
        'proxy.compression',
        'the stylesheet arrives uncompressed',
        'Have the proxy pass on Accept-Encoding and Content-Encoding.',
      )
}

/** Requests through BASE_URL, as a browser sends them. */
export async function checkRequests(config: Env): Promise<Finding[]> {
  try {
    const findings = await checkReport(config)
    if (findings[0]?.state !== 'ok') return findings
    return [...findings, ...(await Promise.all([checkWebSocket(config), checkCompression(config)]))]
  } catch (error) {
    return [
      fail(
        'proxy',
        `${config.baseUrl} does not answer: ${errorMessage(error)}`,
        'Start the server and the proxy in front of it, or correct BASE_URL.',
      ),
    ]
  }
}
