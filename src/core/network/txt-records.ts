import { Resolver } from 'node:dns/promises'
import { env } from '../env.ts'

/** Of one try of one server, and of the whole look-up. */
const TRY_MS = 2000
const LOOK_UP_MS = 10_000

/** Codes of answers that there is no such record. */
const ABSENT = ['ENOTFOUND', 'ENODATA']

/**
 * The values of the TXT records of a name (RFC 1035, section 3.3.14), the strings of each joined: none without such a
 * record, and null when no server answers within 10 s.
 */
export async function findTxtRecords(name: string): Promise<string[] | null> {
  const resolver = new Resolver({ timeout: TRY_MS, tries: 2 })
  if (env.dnsServers) resolver.setServers(env.dnsServers)
  const deadline = setTimeout(() => resolver.cancel(), LOOK_UP_MS)
  try {
    return (await resolver.resolveTxt(name)).map((strings) => strings.join(''))
  } catch (error) {
    return ABSENT.includes((error as { code?: string }).code ?? '') ? [] : null
  } finally {
    clearTimeout(deadline)
  }
}
