import { deleteDueUsers } from '../users/deletion/due-deletions.ts'
import { startRepeatedJob } from './scheduler.ts'

const INTERVAL_MS = 60_000

/** Deletes the users who asked for it when it is due, about once a minute until the returned function is called. */
export const startAccountDeletions = (): (() => void) =>
  startRepeatedJob('account deletion', INTERVAL_MS, deleteDueUsers)
