/* Prices of European options by the formula of Black and Scholes, calls and puts, in one SIMD loop. */
#include "harness.h"
#include "simd_math.h"

const char bench_arguments[] = "SPOT STRIKE YEARS RATE VOLATILITY";
static Array spots, strikes, times;
static double rate, volatility;
static double *call_prices, *put_prices;

void bench_prepare(char **arguments)
{
    spots = argument_array(arguments[0], ELEMENT_F64);
    strikes = argument_array(arguments[1], ELEMENT_F64);
    times = argument_array(arguments[2], ELEMENT_F64);
    rate = argument_float(arguments[3]);
    volatility = argument_float(arguments[4]);
}

/* Abramowitz and Stegun 26.2.17. */
static inline double normal(double x)
{
    double u = 1 / (1 + 0.2316419 * fabs(x));
    double poly = u * (0.319381530 + u * (-0.356563782 + u * (1.781477937 + u * (-1.821255978 + u * 1.330274429))));
    double tail = exp(-x * x / 2) * 0.3989422804014327 * poly;
    return x < 0 ? tail : 1 - tail;
}

static void price(size_t n, const double *restrict spot, const double *restrict strike, const double *restrict years, double *restrict call,
                  double *restrict put)
{
    double r = rate, v = volatility, growth = r + v * v / 2;
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++) {
        double spread = v * sqrt(years[i]);
        double d1 = (log(spot[i] / strike[i]) + growth * years[i]) / spread;
        double n1 = normal(d1), n2 = normal(d1 - spread);
        double discounted = strike[i] * exp(-r * years[i]);
        call[i] = spot[i] * n1 - discounted * n2;
        put[i] = discounted * (1 - n2) - spot[i] * (1 - n1);
    }
}

void bench_run(void)
{
    release(call_prices);
    release(put_prices);
    call_prices = allocate(spots.rows * sizeof *call_prices);
    put_prices = allocate(spots.rows * sizeof *put_prices);
    price(spots.rows, spots.data, strikes.data, times.data, call_prices, put_prices);
}

void bench_result(FILE *out)
{
    digest_float_vectors(out, spots.rows, 2, (const double *const[]){call_prices, put_prices});
}
