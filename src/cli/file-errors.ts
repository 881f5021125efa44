import { errorMessage } from '../core/error-message.ts'
import { InvalidInput } from '../core/errors.ts'

const SENTENCES: Record<string, string> = {
  ENOENT: 'does not exist',
  EISDIR: 'is a directory',
  ENOTDIR: 'has a part that is not a directory',
  EACCES: 'cannot be opened: permission denied',
  EPERM: 'cannot be opened: permission denied',
}

/** The error of the system about the file of an option that is read or written, as a sentence. */
export function createFileError(field: string, error: unknown, use: 'read' | 'write'): InvalidInput {
  const { code } = error as NodeJS.ErrnoException
  const isNewFile = use === 'write' && code === 'ENOENT'
  const description = isNewFile
    ? 'is in a directory that does not exist'
    : (SENTENCES[code ?? ''] ?? `cannot be opened: ${errorMessage(error)}`)
  return new InvalidInput([{ field, description }], 'The command is not valid.')
}
