import { useTypedText } from './typed-text.ts'

const PAUSE_MS = 200

/** A search that is made while the person types, after a short pause. */
export function SearchBox({
  label,
  placeholder = label,
  search,
  onSearch,
}: {
  label: string
  placeholder?: string
  search: string
  onSearch: (search: string) => void
}) {
  const { entered, setEntered } = useTypedText({ text: search, pauseMs: PAUSE_MS, onSend: onSearch })
  return (
    <search>
      <input
        type="search"
        aria-label={label}
        placeholder={placeholder}
        value={entered}
        onChange={({ target }) => setEntered(target.value)}
      />
    </search>
  )
}
