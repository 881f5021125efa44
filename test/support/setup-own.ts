import { rm } from 'node:fs/promises'
import { afterAll, beforeAll } from 'vitest'
import { closeAll, prepareEnvironment } from './environment.ts'

// Runs before the imports of each test file of project `own`, in the file's own process. The database is
// created during the imports.

const { dataDir, database } = await prepareEnvironment()
beforeAll(() => database)
afterAll(() => rm(dataDir, { recursive: true, force: true }))
afterAll(closeAll)
