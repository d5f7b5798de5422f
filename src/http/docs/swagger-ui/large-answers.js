/**
 * Swagger UI plugin, run in the browser. It shows only the start of an answer over
 * {@link WHOLE_BYTES}, with its size and a link that saves it. Swagger UI would read, format and
 * color all of it, which stops the page for minutes.
 */
;(() => {
  /** Largest answer that is shown whole. */
  const WHOLE_BYTES = 262_144
  /** Bytes shown of a larger answer. */
  const CLIPPED_BYTES = 65_536
  const TEXT_TYPES = /json|text|xml|yaml/i

  /** Fetches as Swagger UI does, but passes a large body on as a file, which is not read. */
  async function fetchAnswer(url, request) {
    const response = await fetch(url, request)
    const { status, statusText, headers, ok } = response
    const body = await response.blob()
    if (body.size <= WHOLE_BYTES) {
      return new Response(body.size === 0 ? null : body, { status, statusText, headers })
    }
    const file = new File([body], fileName(url, body.type), { type: body.type })
    const read = async () => file
    return { status, statusText, headers, ok, url, text: read, blob: read }
  }

  /** Name of the saved file: `r1-value.json` for `…/results/r1/value`. */
  function fileName(url, type) {
    const name = new URL(url, location.href).pathname.split('/').slice(-2).join('-')
    if (/json/i.test(type)) return `${name}.json`
    return TEXT_TYPES.test(type) ? `${name}.txt` : `${name}.bin`
  }

  const plugin = ({ React }) => {
    const h = React.createElement

    /** Shows a large answer: its size, a link that saves it, and its start when it is text. */
    const LargeBody = ({ content: file }) => {
      const [start, setStart] = React.useState('')
      const [href, setHref] = React.useState('')
      React.useEffect(() => {
        const made = URL.createObjectURL(file)
        setHref(made)
        if (TEXT_TYPES.test(file.type)) file.slice(0, CLIPPED_BYTES).text().then(setStart)
        else setStart('')
        return () => URL.revokeObjectURL(made)
      }, [file])
      const count = (bytes) => bytes.toLocaleString('en')
      const shown = start === '' ? '' : `; the first ${count(CLIPPED_BYTES)} are shown`
      return h(
        'div',
        { className: 'large-body' },
        `${count(file.size)} bytes${shown}. `,
        h('a', { href, download: file.name }, `Save ${file.name}`),
        start === '' ? null : h('pre', { className: 'microlight' }, start),
      )
    }

    return {
      wrapComponents: {
        responseBody: (Original) => (props) =>
          h(props.content instanceof File ? LargeBody : Original, props),
      },
    }
  }

  window.coatcheck = { plugins: [plugin], fetchAnswer }
})()
