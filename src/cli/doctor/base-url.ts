import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { connect } from 'node:tls'
import type { Env } from '../../core/env.ts'
import { errorMessage } from '../../core/error-message.ts'
import { type Finding, fail, formatCount, ok, STEP_LIMIT_MS, warn } from './finding.ts'

const DAY_MS = 86_400_000
const SOON_DAYS = 14

const toHost = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1')

/** Resolves the host of BASE_URL as the system does. */
async function checkDns(url: URL): Promise<Finding> {
  try {
    const addresses = await lookup(toHost(url), { all: true })
    return ok('dns', `${url.hostname} is ${addresses.map(({ address }) => address).join(', ')}`)
  } catch (error) {
    const { code = errorMessage(error) } = error as { code?: string }
    return fail(
      'dns',
      `${url.hostname} does not resolve: ${code}`,
      'Publish an A or AAAA record for the host of BASE_URL.',
    )
  }
}

/** Reads the certificate of BASE_URL, whether it is trusted and when it expires. */
async function checkTls(url: URL): Promise<Finding[]> {
  const socket = connect({
    host: toHost(url),
    port: Number(url.port) || 443,
    servername: /[a-z]/i.test(url.hostname) ? url.hostname : '',
    // The certificate is read even if it is not valid; nothing is sent.
    rejectUnauthorized: false,
  })
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(STEP_LIMIT_MS) })
    const { valid_to: validTo } = socket.getPeerCertificate()
    const days = Math.floor((Date.parse(validTo) - Date.now()) / DAY_MS)
    const action = 'Renew the certificate, and reload the proxy.'
    const expiry =
      days < 0
        ? fail('tls.expiry', `expired on ${validTo}`, action)
        : days < SOON_DAYS
          ? warn('tls.expiry', `expires in ${formatCount(days, 'day')}`, action)
          : ok('tls.expiry', `expires in ${formatCount(days, 'day')}`)
    const problem = socket.authorizationError as unknown as Error | string | undefined
    const code = problem instanceof Error ? ((problem as { code?: string }).code ?? problem.message) : problem
    const chain =
      code && code !== 'CERT_HAS_EXPIRED'
        ? fail(
            'tls.chain',
            `not trusted: ${code}`,
            'Serve the certificate of this host with its intermediate certificates.',
          )
        : ok('tls.chain', code ? 'complete' : 'trusted')
    return [chain, expiry]
  } catch (error) {
    return [fail('tls', errorMessage(error), 'Let the proxy of BASE_URL serve TLS at this port.')]
  } finally {
    socket.on('error', () => {}).destroy()
  }
}

/** DNS and TLS of BASE_URL. */
export async function checkBaseUrl({ baseUrl }: Env): Promise<Finding[]> {
  const url = new URL(baseUrl)
  const dns = await checkDns(url)
  if (dns.state !== 'ok') return [dns]
  return [dns, ...(url.protocol === 'https:' ? await checkTls(url) : [])]
}
