import type { Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { createRecord, type RequestRecord } from '../core/requests/record.ts'

const STATUS_LINES: Record<string, string> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** The response whose connection a parser reads. Node's own answer depends on it. */
type ParsedSocket = Duplex & { _httpMessage?: { headersSent: boolean }; destroySoon?: () => void }

/**
 * Reports requests that Node's parser refuses, which no listener sees: malformed ones, headers that are too large or too
 * slow. They are answered as Node does without a listener.
 */
export function reportMalformed(
  server: Server,
  report: (record: RequestRecord, status: number) => void,
): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: ParsedSocket) => {
    const { code = '' } = error
    const line = STATUS_LINES[code] ?? '400 Bad Request'
    if (socket.writable && !socket._httpMessage?.headersSent)
      socket.write(`HTTP/1.1 ${line}\r\nConnection: close\r\n\r\n`)
    if (socket.destroySoon) socket.destroySoon()
    else socket.end()
    // Anything else is the end of a connection.
    const record = code.startsWith('HPE_') || code in STATUS_LINES ? createRecord('-') : undefined
    if (record) report(record, Number(line.slice(0, 3)))
  })
}
