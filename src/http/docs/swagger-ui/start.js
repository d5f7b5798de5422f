/**
 * Gives Swagger UI the plugins of the scripts before this one. No inline script is needed, because
 * Swagger UI starts when the page is loaded.
 */
;(() => {
  const { plugins, fetchAnswer } = window.coatcheck
  const original = window.SwaggerUIBundle
  const withPlugins = (config) =>
    original({
      ...config,
      plugins: [...config.plugins, ...plugins],
      requestInterceptor: (request) => ({ ...request, userFetch: fetchAnswer }),
    })
  window.SwaggerUIBundle = Object.assign(withPlugins, original)
})()
