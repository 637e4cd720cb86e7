package dev.tidemark.cluster;

import java.io.IOException;
import javax.servlet.Filter;
import javax.servlet.FilterChain;
import javax.servlet.FilterConfig;
import javax.servlet.ServletRequest;
import javax.servlet.ServletResponse;
import javax.servlet.http.HttpServletResponse;

/**
 * Refuses every page of Spark's master and workers, which have logs of executors and no password.
 *
 * They cannot be turned off, and other users of this machine would reach them.
 */
public class NoPages implements Filter {
    public void init(FilterConfig config) {}

    public void doFilter(ServletRequest request, ServletResponse response, FilterChain others)
            throws IOException {
        ((HttpServletResponse) response).sendError(HttpServletResponse.SC_FORBIDDEN);
    }

    public void destroy() {}
}
