import { reencrypt } from '../reencrypt.ts'
import { commandGroup, databaseCommand } from './command.ts'

const reEncrypt = databaseCommand({
  name: 're-encrypt',
  description: 'Encrypt every stored secret with the first ENCRYPTION_KEY',
  args: {},
  run: async () => {
    const counts = await reencrypt()
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
    return { text: `Encrypted ${total} secrets anew.`, json: counts }
  },
})

export const keysCommand = commandGroup('keys', 'Encryption keys', { 're-encrypt': reEncrypt })
