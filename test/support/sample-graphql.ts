import type { Json } from './json.ts'

const FIRST_FRAME_LIMIT_MS = 10_000

/**
 * Executes an operation, a subscription until its first frame; returns the data of the others. Throws at an error,
 * including those in results, and at a list that shows nothing.
 */
export async function executeSample(url: string, query: string, token: string): Promise<Json> {
  const isSubscription = query.startsWith('subscription')
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      accept: isSubscription ? 'text/event-stream' : 'application/json',
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ query }),
    signal: AbortSignal.timeout(FIRST_FRAME_LIMIT_MS),
  })
  const text = isSubscription ? await readFirstFrame(response) : await response.text()
  if (!response.ok || text.includes('"errors":')) throw new Error(`${response.status} ${text}`)
  if (isSubscription) return null
  const { data } = JSON.parse(text) as { data: object }
  if (Object.values(data).some(isError)) throw new Error(text)
  return data
}

/** Whether a member of an answer is an error, or shows nothing. */
const isError = (value: Json): boolean =>
  value === null ||
  Object.keys(value).length === 0 ||
  /Error$/.test(value.__typename ?? '') ||
  value.nodes?.length === 0 ||
  'message' in value ||
  'fields' in value

/** The first server-sent event with data or an id. */
async function readFirstFrame(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    if (/^(data|id): ?\S.*\n\n/ms.test(text)) return text
  }
  return text
}
