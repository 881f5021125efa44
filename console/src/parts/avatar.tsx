import { useState } from 'react'

/** The picture of a person, or the initial. */
export function Avatar({ name, picture }: { name: string; picture: string | null }) {
  const [broken, setBroken] = useState<string | null>(null)
  return picture && picture !== broken ? (
    <img
      className="avatar"
      src={picture}
      alt=""
      referrerPolicy="no-referrer"
      loading="lazy"
      onError={() => setBroken(picture)}
    />
  ) : (
    <span className="avatar" aria-hidden="true">
      {(name.trim().charAt(0) || '?').toUpperCase()}
    </span>
  )
}
