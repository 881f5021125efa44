import type { Env } from '../../core/env.ts'
import { errorMessage } from '../../core/error-message.ts'
import { checkBaseUrl } from './base-url.ts'
import { checkConfiguration } from './configuration.ts'
import { checkDatabase } from './database.ts'
import { checkDisk } from './disk.ts'
import { CHECK_LIMIT_MS, type Finding, fail } from './finding.ts'
import { checkMail, checkSms } from './messages.ts'
import { checkRedis } from './redis.ts'
import { checkRequests } from './requests.ts'

const CHECKS = {
  configuration: checkConfiguration,
  database: checkDatabase,
  redis: checkRedis,
  smtp: checkMail,
  sms: checkSms,
  dns: checkBaseUrl,
  proxy: checkRequests,
  disk: checkDisk,
} satisfies Record<string, (config: Env) => Promise<Finding[]>>

/** The findings of a check; one that takes longer than 5 s, or throws, is a failure. */
async function limitCheck(name: string, check: Promise<Finding[]>): Promise<Finding[]> {
  const action = 'Try again, and see the log of what it asks.'
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Finding[]>((resolve) => {
    timer = setTimeout(resolve, CHECK_LIMIT_MS, [
      fail(name, `does not answer within ${CHECK_LIMIT_MS / 1000} s`, action),
    ])
  })
  const failed = check.catch((error: unknown) => [fail(name, errorMessage(error), action)])
  return Promise.race([failed, late]).finally(() => clearTimeout(timer))
}

/** Runs all checks at once. Resolves within 5 s, in the order of the table. */
export async function runChecks(config: Env): Promise<Finding[]> {
  const findings = await Promise.all(
    Object.entries(CHECKS).map(([name, check]) => limitCheck(name, check(config))),
  )
  return findings.flat()
}
