import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerProcess } from './process.ts'

const QUERY = `subscription ($after: String) {
  events(after: $after, types: ["user.created"]) { ... on AuditEvent { subjectIds } }
}`
type Payload = { data?: { events?: { subjectIds?: string[] } } }

/**
 * Follows the creation of users until the signal aborts, and adds their ids to `delivered`. Resumes from the
 * last position (`id:`) whenever the stream ends. `onOpen` is called once the stream delivers every later
 * event.
 */
export async function followCreatedUsers(
  server: ServerProcess,
  tenant: string,
  token: string,
  delivered: string[],
  signal: AbortSignal,
  onOpen: () => void,
): Promise<void> {
  let after: string | null = null
  while (!signal.aborted) {
    try {
      const response = await fetch(`${server.origin}/${tenant}/graphql`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'text/event-stream',
          authorization: `Bearer ${token}`,
        },
        body: JSON.stringify({ query: QUERY, variables: { after } }),
        signal,
      })
      if (response.ok) onOpen()
      let buffered = ''
      let message: { position: string | null; ids: string[] } = { position: null, ids: [] }
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        buffered += chunk
        const lines = buffered.split('\n')
        buffered = lines.pop() ?? ''
        for (const line of lines) {
          if (line.startsWith('id: ')) message.position = line.slice(4)
          if (line.startsWith('data: {'))
            message.ids = (JSON.parse(line.slice(6)) as Payload).data?.events?.subjectIds ?? []
          if (line) continue
          // A message whose empty line was not received does not count, and follows again.
          delivered.push(...message.ids)
          after = message.position ?? after
          message = { position: null, ids: [] }
        }
      }
    } catch {
      // The stream is resumed.
    }
    await sleep(100)
  }
}
