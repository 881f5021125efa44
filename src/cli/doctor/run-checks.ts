import { constants } from 'node:fs'
import { access, statfs } from 'node:fs/promises'
import { type Env, listUnknownVariables, variableIssues } from '../../core/env.ts'
import { errorMessage } from '../../core/error-message.ts'
import { checkBaseUrl } from './base-url.ts'
import { checkDatabase } from './database.ts'
import { CHECK_LIMIT_MS, type Finding, fail, ok, warn } from './finding.ts'
import { checkMail, checkSms } from './messages.ts'
import { checkRedis } from './redis.ts'
import { checkRequests } from './requests.ts'

const MB = 2 ** 20
const LOW_MB = 1024
const FULL_MB = 100

/** Space and rights of DATA_DIR, which a server with DATABASE_URL and ENCRYPTION_KEY does without. */
async function checkDisk({ dataDir }: Env): Promise<Finding[]> {
  try {
    await access(dataDir, constants.R_OK | constants.W_OK)
    const { bavail, bsize } = await statfs(dataDir)
    const free = Math.floor((bavail * bsize) / MB)
    const found = `${free} MB free in ${dataDir}`
    const action = 'Free space, or move DATA_DIR.'
    if (free < FULL_MB) return [fail('disk', found, action)]
    return [free < LOW_MB ? warn('disk', found, action) : ok('disk', found)]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [ok('disk', `${dataDir} is not used`)]
    return [fail('disk', errorMessage(error), 'Let the user of the server write in DATA_DIR.')]
  }
}

const ACTION = 'Correct the variable: .env.example describes each.'

/** The variables of this process: those that are not valid or missing, and those that look misspelled. */
async function checkConfiguration(): Promise<Finding[]> {
  const findings = [
    ...variableIssues.map((issue) => fail('configuration', issue, ACTION)),
    ...listUnknownVariables().map((warning) => warn('configuration', warning, ACTION)),
  ]
  return findings.length > 0 ? findings : [ok('configuration', 'all variables are valid')]
}

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
