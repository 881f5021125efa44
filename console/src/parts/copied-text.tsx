import { useState } from 'react'

const SHOWN_MS = 1500

/** A text such as an id, which a click copies. */
export function CopiedText({ text }: { text: string }) {
  const [isCopied, setIsCopied] = useState(false)
  return (
    <button
      type="button"
      className="copied-text"
      title="Copy"
      onClick={() =>
        void navigator.clipboard.writeText(text).then(() => {
          setIsCopied(true)
          setTimeout(() => setIsCopied(false), SHOWN_MS)
        })
      }
    >
      <code>{text}</code>
      <span role="status">{isCopied ? 'Copied' : ''}</span>
    </button>
  )
}
