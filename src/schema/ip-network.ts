import * as z from 'zod'
import { normalizeNetwork } from '../core/network/ip.ts'
import { text } from './input-shapes.ts'

/** Parses an IP address or a network to its canonical spelling. A zone (`%eth0`) has a meaning on one machine only. */
export const ipNetwork = text(100)
  .transform((value, context) => {
    const network = value.includes('%') ? null : normalizeNetwork(value)
    if (network !== null) return network
    context.addIssue('must be an IPv4 or IPv6 address, or a network such as 203.0.113.0/24')
    return z.NEVER
  })
  .meta({
    anyOf: [
      { format: 'ipv4' },
      { format: 'ipv6' },
      { pattern: z.regexes.cidrv4.source },
      { pattern: z.regexes.cidrv6.source },
    ],
  })
