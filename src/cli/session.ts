import { defineOperationCommand } from './api/operation-command.ts'
import { defineCommandGroup } from './command.ts'

const COLUMNS = ['id', 'userId', 'clientId', 'lastSeenAt', 'lastSeenIp']

export const sessionCommand = defineCommandGroup('session', 'Sessions of users', {
  list: defineOperationCommand('listSessions', { name: 'list', columns: COLUMNS }),
  show: defineOperationCommand('getSession', { name: 'show' }),
  delete: defineOperationCommand('revokeSession', { name: 'delete' }),
})
