import { useEffect, useRef, useState } from 'react'

/**
 * The text of a field that the URL has: it is sent after a pause, or by `send`, if the field accepts it. A text that arrives
 * in the URL replaces the entered one only when it comes from elsewhere, such as Back: the person may have typed on since it
 * was sent.
 */
export function useTypedText({
  text,
  pauseMs,
  accepts = () => true,
  onSend,
}: {
  text: string
  pauseMs?: number
  accepts?: (entered: string) => boolean
  onSend: (entered: string) => void
}) {
  const [entered, setEntered] = useState(text)
  /** Sent, and not in the URL yet. */
  const sent = useRef<readonly string[]>([])
  useEffect(() => {
    const place = sent.current.indexOf(text)
    sent.current = place < 0 ? [] : sent.current.slice(place + 1)
    if (place < 0) setEntered(text)
  }, [text])
  const send = (): void => {
    const trimmed = entered.trim()
    if (trimmed === (sent.current.at(-1) ?? text) || !accepts(trimmed)) return
    sent.current = [...sent.current, trimmed]
    onSend(trimmed)
  }
  const latest = useRef(send)
  latest.current = send
  // biome-ignore lint/correctness/useExhaustiveDependencies: each text has a pause of its own
  useEffect(() => {
    if (pauseMs === undefined) return
    const timer = setTimeout(() => latest.current(), pauseMs)
    return () => clearTimeout(timer)
  }, [entered, pauseMs])
  return { entered, setEntered, send }
}
