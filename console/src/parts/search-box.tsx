import { useEffect, useId, useState } from 'react'

const PAUSE_MS = 200

/** A search that is made while the person types, after a short pause. */
export function SearchBox({
  label,
  placeholder,
  search,
  onSearch,
}: {
  label: string
  placeholder: string
  search: string
  onSearch: (search: string) => void
}) {
  const id = useId()
  const [entered, setEntered] = useState(search)
  useEffect(() => setEntered(search), [search])
  useEffect(() => {
    if (entered === search) return
    const timer = setTimeout(() => onSearch(entered), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [entered, search, onSearch])
  return (
    <search>
      <label className="hidden" htmlFor={id}>
        {label}
      </label>
      <input
        id={id}
        type="search"
        placeholder={placeholder}
        value={entered}
        onChange={({ target }) => setEntered(target.value)}
      />
    </search>
  )
}
