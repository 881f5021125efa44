import { constants } from 'node:fs'
import { access, statfs } from 'node:fs/promises'
import type { Env } from '../../core/env.ts'
import { errorMessage } from '../../core/error-message.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const MB = 2 ** 20
const LOW_MB = 1024
const FULL_MB = 100

/** Space and rights of DATA_DIR, which a server with DATABASE_URL and ENCRYPTION_KEY does without. */
export async function checkDisk({ dataDir }: Env): Promise<Finding[]> {
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
